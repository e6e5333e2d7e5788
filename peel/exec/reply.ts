/**
 * Looks at what comes out of a worker before the peel believes it. The code in there may be anybody's, and its types bind
 * nobody: every value is of a known shape and size after this, or there is one error that says what is wrong. Pure.
 */
import { type ErrorCode, ERRORS } from "../../core/errors.ts";
import {
  MODULE_ERROR_LETTERS_MAX,
  MODULE_VALUE_BYTES_MAX,
  MODULE_VALUE_DEPTH_MAX,
  MODULE_VALUE_PARTS_MAX,
} from "../../core/limits.ts";
import type { Change, Details, Drift } from "../../core/module.ts";
import type { PassedError, Reply, Work } from "./protocol.ts";

/** The reply to a task, believed as far as its shape goes; or the failure to give one. */
export function checkedReply(work: Work["do"], reply: unknown): Reply {
  if (!isMap(reply) || typeof reply["ok"] !== "boolean") return wrong("it gave no reply");
  if (!reply["ok"]) return { ok: false, error: checkedError(reply["error"]) };
  const { value = null } = reply;
  const why = plainRefusal(value, { bytes: work === "apply" || work === "revert" });
  if (why !== null) return wrong(`it returned ${why}`);
  return VALUES[work](value);
}

const VALUES: Readonly<Record<Work["do"], (value: unknown) => Reply>> = {
  check: driftReply,
  apply: changeReply,
  revert: changeReply,
  run: (value) => ({ ok: true, value }),
  prepare: (value) => ({ ok: true, value }),
};

function wrong(message: string): Reply {
  return { ok: false, error: { message, code: "bad_module" } };
}

function driftReply(value: unknown): Reply {
  if (value === null) return { ok: true, value };
  if (!isMap(value) || typeof value["diff"] !== "string") {
    return wrong("check() returned neither null nor a diff");
  }
  const drift: Drift = {
    diff: value["diff"],
    ...(value["isUnsure"] === true ? { isUnsure: true } : {}),
  };
  return { ok: true, value: drift };
}

function changeReply(value: unknown): Reply {
  if (value === null) return { ok: true, value };
  if (!isMap(value) || typeof value["diff"] !== "string") {
    return wrong("it returned neither null nor a diff");
  }
  const { diff, details, changed, memo } = value;
  if (details !== undefined && !isDetails(details)) {
    return wrong("it returned details that are not texts by name");
  }
  const change: Change = {
    diff,
    ...(details === undefined ? {} : { details }),
    ...(changed === undefined ? {} : { changed: changed === true }),
    ...(memo === undefined ? {} : { memo }),
  };
  return { ok: true, value: change };
}

function checkedError(error: unknown): PassedError {
  if (!isMap(error) || typeof error["message"] !== "string") {
    return { message: "it failed and did not say why", code: "bad_module" };
  }
  const { message, code, details, changed, memo } = error;
  return {
    message: shortened(message),
    ...(isCode(code) ? { code } : {}),
    ...(isDetails(details) && plainRefusal(details) === null ? { details } : {}),
    ...(changed === true ? { changed } : {}),
    ...(memo !== undefined && plainRefusal(memo, { bytes: true }) === null ? { memo } : {}),
  };
}

/** `closed` means that somebody ended the work; that is not for the work itself to say. */
function isCode(code: unknown): code is ErrorCode {
  return typeof code === "string" && code !== "closed" && Object.hasOwn(ERRORS, code);
}

/** A message of bearable length. */
export function shortened(message: string): string {
  return message.length <= MODULE_ERROR_LETTERS_MAX
    ? message
    : `${message.slice(0, MODULE_ERROR_LETTERS_MAX)}…`;
}

function isDetails(value: unknown): value is Details {
  return isMap(value) && Object.values(value).every((each) => typeof each === "string");
}

function isMap(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const kind = Object.getPrototypeOf(value);
  return kind === Object.prototype || kind === null;
}

/**
 * Why a value is no plain data of bearable size; null when it is. A value that holds itself is too deep, one that holds
 * the same part over and over has too many parts.
 */
export function plainRefusal(value: unknown, allow: { bytes?: boolean } = {}): string | null {
  const left = { bytes: MODULE_VALUE_BYTES_MAX, parts: MODULE_VALUE_PARTS_MAX };

  function refuse(part: unknown, depth: number): string | null {
    if (--left.parts < 0) return "a value of too many parts";
    if (depth > MODULE_VALUE_DEPTH_MAX) return "a value that is nested too deeply";
    const size = sizeOf(part);
    left.bytes -= size ?? 0;
    if (left.bytes < 0) return "too large a value";
    if (size !== null) return null;
    if (allow.bytes && part instanceof Uint8Array) {
      left.bytes -= part.byteLength;
      return left.bytes < 0 ? "too large a value" : null;
    }
    if (Array.isArray(part)) return refuseAll(part, depth);
    if (!isMap(part)) return "what is no plain data";
    return refuseAll(Object.keys(part), depth) ?? refuseAll(Object.values(part), depth);
  }

  function refuseAll(parts: readonly unknown[], depth: number): string | null {
    if (parts.length > left.parts) return "a value of too many parts"; // an empty list may claim any length
    for (const part of parts) {
      const why = refuse(part, depth + 1);
      if (why !== null) return why;
    }
    return null;
  }

  return refuse(value, 0);
}

const BYTES_PER_LETTER = 2;
const BYTES_PER_NUMBER = 8;

/** Null for what has parts. */
function sizeOf(part: unknown): number | null {
  switch (typeof part) {
    case "string":
      return part.length * BYTES_PER_LETTER;
    case "number":
    case "boolean":
    case "undefined":
      return BYTES_PER_NUMBER;
    default:
      return part === null ? BYTES_PER_NUMBER : null;
  }
}
