package io.farheap.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class DurationsTest {

    private final Durations durations = new Durations();

    @Test
    void durations() {
        assertEquals(Duration.ofMillis(500), durations.convert("500ms"));
        assertEquals(Duration.ofSeconds(3), durations.convert("3s"));
        assertEquals(Duration.ofMinutes(2), durations.convert("2m"));
    }

    @Test
    void oneThatIsLongerThanNumbersOfNanosecondsIsForEver() {
        assertEquals(Durations.LONGEST, durations.convert("999999999m"));
        assertEquals(Durations.LONGEST, Durations.capped(Duration.ofSeconds(Long.MAX_VALUE)));
        assertEquals(Duration.ofSeconds(999_999_999), durations.convert("999999999s"));
        for (long now : new long[] {Long.MIN_VALUE, -1, 0, Long.MAX_VALUE}) {
            long end = now + Durations.LONGEST.toNanos();
            assertTrue(end - now > 0 && end - (now + TimeUnit.DAYS.toNanos(36_525)) > 0, "from " + now);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "3", "s", "-3s", "3.5s", "3h", "1234567890s"})
    void whatIsNoDurationIsNamed(String text) {
        String message = assertThrows(TypeConversionException.class, () -> durations.convert(text))
                .getMessage();
        assertTrue(message.contains("'" + text + "'"), message);
    }
}
