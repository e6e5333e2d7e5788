/** Subjects of `test.*`: they touch nothing. */
import type { ModuleFixture } from "../module_fixture.ts";

const nothing = () => Promise.resolve({ given: {} });

export const FIXTURES: readonly ModuleFixture[] = [
  {
    module: "test.succeed_with_changes",
    title: "reports a change each time",
    prepare: nothing,
    neverConverges: true,
    cannotRevert: true,
  },
  {
    module: "test.configurable_test_state",
    title: "reports a change each time",
    prepare: nothing,
    neverConverges: true,
    cannotRevert: true,
  },
];
