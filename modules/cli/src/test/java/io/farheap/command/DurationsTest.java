package io.farheap.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
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

    @ParameterizedTest
    @ValueSource(strings = {"", "3", "s", "-3s", "3.5s", "3h", "1234567890s"})
    void whatIsNoDurationIsNamed(String text) {
        String message = assertThrows(TypeConversionException.class, () -> durations.convert(text))
                .getMessage();
        assertTrue(message.contains("'" + text + "'"), message);
    }
}
