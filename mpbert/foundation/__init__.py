"""What every layer stands on: errors, configurations, outputs, ragged arrays, records."""
