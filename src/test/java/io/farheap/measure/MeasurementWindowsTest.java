package io.farheap.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.slo.Performance;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class MeasurementWindowsTest {

    private final MeasurementWindows windows = new MeasurementWindows(75);

    @Test
    void equalWindowsSettleAsSoonAsThereAreEnough() {
        for (int i = 0; i < MeasurementWindows.LEAST; i++) {
            assertFalse(windows.settled());
            windows.add(3_000, 2_000, 1e6);
        }
        assertTrue(windows.settled());
        assertEquals(new Performance(3_000, 750_000, 2_000, 250_000), windows.medians());
    }

    @Test
    void oneFigureThatVariesKeepsThemFromSettling() {
        for (int i = 0; i < 40; i++) {
            windows.add(3_000, i % 2 == 0 ? 2_000 : 2_400, 1e6);
        }
        assertFalse(windows.settled());
        assertEquals(0.2 / 2 / 1.1, windows.uncertainty(), 1e-9);
        assertEquals(windows.uncertainty(), windows.medians().uncertainty());
        assertFalse(windows.medians().settled());
    }

    @Test
    void whatTheMachineDidInAFewWindowsDoesNotCount() {
        for (int i = 0; i < 30; i++) {
            windows.add(i % 5 == 0 ? 4e6 : 3_000, i % 5 == 0 ? 4e6 : 2_000, i % 5 == 0 ? 1e3 : 1e6);
        }
        assertTrue(windows.settled());
        assertEquals(3_000, windows.medians().readLatencyNanos());
        assertEquals(1e6, windows.medians().throughput());
    }

    @Test
    void theUncertaintyIsWhatItSays() {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        int right = 0;
        for (int trial = 0; trial < 1_000; trial++) {
            MeasurementWindows some = new MeasurementWindows(100);
            for (int i = 0; i < 50; i++) {
                some.add(1_000 * (1 + 0.2 * random.nextDouble()), 0, 1e6);
            }
            // The interval contains the true median in 95 of 100 trials. The bound is its whole width and not half of
            // it, because the sample's median may be nearer to one end.
            if (Math.abs(some.medians().readLatencyNanos() - 1_100) <= 1_100 * 2 * some.uncertainty()) {
                right++;
            }
        }
        assertTrue(right > 950, "seed " + seed + ": " + right);
    }

    @Test
    void anOperationThatTheMixDoesNotHaveIsCertain() {
        MeasurementWindows reads = new MeasurementWindows(100);
        for (int i = 0; i < MeasurementWindows.LEAST; i++) {
            reads.add(3_000, 0, 1e6);
        }
        assertTrue(reads.settled());
        assertEquals(new Performance(3_000, 1e6, 0, 0), reads.medians());
    }

    @Test
    void nothingMeasuredIsNoResult() {
        assertThrows(IllegalStateException.class, windows::medians);
        assertEquals(Double.POSITIVE_INFINITY, windows.uncertainty());
    }
}
