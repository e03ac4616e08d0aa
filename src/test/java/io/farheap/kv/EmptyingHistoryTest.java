package io.farheap.kv;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * As {@link MapHistoryTest}, while segments go from one class of sizes to another. In an emulated guest it takes long.
 */
class EmptyingHistoryTest {

    @ParameterizedTest
    @CsvSource({"8, 2, 1000, 512, false, 254", "400, 2, 400, 512, false, 254", "64, 2, 400, 512, true, 2"})
    void eachKeyIsLinearizableWhileSegmentsAreEmptied(
            int keys, int threads, long objects, int room, boolean alike, int mostUnits) throws Exception {
        MapHistoryTest.run(keys, threads, objects, room, alike, mostUnits, MapHistoryTest.Beside.EMPTYING);
    }
}
