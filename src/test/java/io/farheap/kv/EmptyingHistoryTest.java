package io.farheap.kv;

import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.farheap.testing.Effort;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The histories of {@link MapHistoryTest}, while segments go from one size class to another. They take long in an
 * emulated guest.
 */
class EmptyingHistoryTest {

    static Stream<Arguments> maps() {
        return Effort.variants(
                1,
                arguments(64, 2, 400, 512, true, 2),
                arguments(400, 2, 400, 512, false, 254),
                arguments(8, 2, 1000, 512, false, 254));
    }

    @ParameterizedTest
    @MethodSource("maps")
    void eachKeyIsLinearizableWhileSegmentsAreEmptied(
            int keys, int threads, long objects, int room, boolean alike, int mostUnits) throws Exception {
        MapHistoryTest.run(keys, threads, objects, room, alike, mostUnits, MapHistoryTest.Beside.EMPTYING);
    }
}
