import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import test from "node:test";

import {
  createProtocolConnection,
  InitializeRequest,
  ShutdownRequest,
  ExitNotification,
} from "vscode-languageserver-protocol/node";

import { LANGUAGES, remarkSettings, serverCommand, type Settings } from "../src/server";

const about = JSON.parse(readFileSync("package.json", "utf-8"));
const properties: Record<string, { default: string | boolean | number }> =
  about.contributes.configuration.properties;
const defaults = Object.fromEntries(
  Object.entries(properties).map(([name, property]) => [
    name.replace("mpbert.", ""),
    property.default,
  ]),
) as Settings;

test("without an index nothing is started", () => {
  assert.equal(serverCommand(defaults), null);
  assert.equal(serverCommand({ ...defaults, index: "  " }), null);
});

test("the program, its command and the index are the words of the command line", () => {
  const index = "/home/a b/index";
  assert.deepEqual(serverCommand({ ...defaults, index }), { command: "mpbert", args: ["lsp", index] });
  const found = serverCommand({ ...defaults, index, command: "/opt/bin/mpbert" });
  assert.equal(found?.command, "/opt/bin/mpbert");
});

test("the server is told all settings but how it is started", () => {
  const told = remarkSettings({ ...defaults, index: "x", unmarked: 3 });
  assert.deepEqual(told, { ...told, unmarked: 3, open_places: true });
  assert.ok(!("index" in told) && !("command" in told));
});

test("each language that starts the extension is one that the server gets", () => {
  const starting = about.activationEvents.map((event: string) => event.replace("onLanguage:", ""));
  assert.deepEqual(LANGUAGES, [...starting, "bibtex"]);
});

const index = process.env.MPBERT_INDEX ?? "";
test("the server that these settings start completes", { skip: index === "" }, async () => {
  const run = serverCommand({ ...defaults, index, command: process.env.MPBERT ?? "mpbert" });
  assert.ok(run);
  const server = spawn(run.command, run.args, { stdio: ["pipe", "pipe", "inherit"] });
  const connection = createProtocolConnection(server.stdout, server.stdin);
  connection.listen();
  const found = await connection.sendRequest(InitializeRequest.type, {
    processId: process.pid,
    rootUri: null,
    capabilities: {},
    initializationOptions: remarkSettings(defaults),
  });
  assert.ok(found.capabilities.completionProvider?.triggerCharacters?.includes("{"));
  const ended = new Promise((resolve) => server.once("exit", resolve));
  await connection.sendRequest(ShutdownRequest.type);
  await connection.sendNotification(ExitNotification.type);
  assert.equal(await ended, 0);
});
