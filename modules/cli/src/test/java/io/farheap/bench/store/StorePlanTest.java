package io.farheap.bench.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.bench.ycsb.DataSet;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** A log of which all is to be in local memory does not outgrow it. */
class StorePlanTest {

    private static StorePlan plan(int rounds) {
        return new StorePlan(new DataSet(4_000_000, Long.BYTES), 65_536, rounds, 1, Path.of("."));
    }

    /** Between two fold-overs, each record may be copied to the log's end once. */
    @Test
    void allLocalMemoryHasRoomForACopyOfEachRecordInEachTurn() {
        StorePlan plan = plan(6);
        long turns = StoreTurns.MOST_WARM_UPS + 6;
        assertTrue(plan.allLocal() >= (1 + turns) * plan.data().logBytes(), () -> "" + plan.allLocal());
        assertEquals(0, plan.allLocal() % StorePlan.PAGE_BYTES);
        assertTrue(plan(12).allLocal() >= plan.allLocal() + 6 * plan.data().logBytes() - StorePlan.PAGE_BYTES);
    }
}
