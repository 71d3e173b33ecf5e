/** Starts the language server of mpbert, and starts it anew when its settings change. */

import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

import { LANGUAGES, remarkSettings, serverCommand, type Settings } from "./server";

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (change.affectsConfiguration("mpbert")) {
        await deactivate();
        await start();
      }
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.stop();
}

async function start(): Promise<void> {
  const found = vscode.workspace.getConfiguration().get<Settings>("mpbert");
  const run = found && serverCommand(found);
  if (!run) {
    const answer = await vscode.window.showInformationMessage(
      "mpbert: name the index of your papers in mpbert.index.",
      "Open settings",
    );
    if (answer) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "mpbert.index");
    }
    return;
  }
  client = new LanguageClient("mpbert", "mpbert", run, {
    documentSelector: LANGUAGES.map((language) => ({ language })),
    initializationOptions: remarkSettings(found),
  });
  try {
    await client.start();
  } catch (error) {
    await vscode.window.showErrorMessage(`mpbert: ${run.command} cannot be started (${error}).`);
  }
}
