"use strict";
// Only syntax that Node 10 understands: this file must explain itself on an old one.

var path = require("node:path");
var floor = [24, 11];

/** Runs a bundle of dist/ in this process, or on the pinned `node` package when this Node is too old. */
module.exports = function launch(program, start) {
  if (isNewEnough(process.versions.node)) return start(path.join(__dirname, "..", "dist", program));
  var pinned = findPinnedNode();
  if (pinned === undefined) {
    process.stderr.write(
      "error: outdial needs Node " +
        floor.join(".") +
        " or newer, this is " +
        process.versions.node +
        " (" +
        process.execPath +
        ")\n",
    );
    process.exit(1);
  }
  continueOn(pinned);
};

function isNewEnough(version) {
  var parts = version.split(".").map(Number);
  return parts[0] > floor[0] || (parts[0] === floor[0] && parts[1] >= floor[1]);
}

function findPinnedNode() {
  try {
    var manifest = require.resolve("node/package.json");
    var file = path.join(path.dirname(manifest), "bin", process.platform === "win32" ? "node.exe" : "node");
    return require("node:fs").existsSync(file) ? file : undefined;
  } catch {
    return undefined; // The package is not installed.
  }
}

function continueOn(node) {
  var child = require("node:child_process").spawn(node, process.argv.slice(1), { stdio: "inherit" });
  ["SIGINT", "SIGTERM", "SIGHUP"].forEach(function (signal) {
    process.on(signal, function () {
      child.kill(signal);
    });
  });
  child.on("error", function (error) {
    process.stderr.write("error: " + node + " does not start: " + error.message + "\n");
    process.exit(1);
  });
  child.on("exit", function (code, signal) {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
