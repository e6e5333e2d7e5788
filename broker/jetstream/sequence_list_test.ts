import assert from "node:assert/strict";
import fc from "fast-check";
import { SequenceList } from "./sequence_list.ts";

Deno.test("SequenceList answers as a plain sorted array does, whatever is removed", () => {
  fc.assert(fc.property(
    fc.array(fc.oneof(fc.constant("push" as const), fc.nat(40)), { maxLength: 80 }),
    fc.nat(60),
    (steps, from) => {
      const list = new SequenceList();
      let plain: number[] = [];
      let next = 0;
      for (const step of steps) {
        if (step === "push") {
          list.push(++next);
          plain.push(next);
        } else {
          assert.equal(list.remove(step), plain.includes(step));
          plain = plain.filter((each) => each !== step);
        }
      }
      const above = plain.filter((each) => each >= from);
      assert.deepEqual(list.values(), plain);
      assert.deepEqual([list.first, list.last], [plain[0], plain.at(-1)]);
      assert.equal(list.firstFrom(from), above[0]);
      assert.equal(list.countFrom(from), above.length);
    },
  ));
});
