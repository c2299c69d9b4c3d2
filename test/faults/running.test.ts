import { testCells } from "./fault-suite.ts";

testCells("running");
