package io.farheap.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class SizesTest {

    @ParameterizedTest
    @CsvSource({"0,0", "4096,4096", "512k,524288", "64m,67108864", "64M,67108864", "1g,1073741824", "2t,2199023255552"})
    void sizes(String text, long bytes) {
        assertEquals(bytes, Sizes.parse(text));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "k", "1kb", "-1", "1.5g", "0x10", "1 g", "9223372036854775808", "9223372036854775807k"})
    void whatIsNoSizeIsNamed(String text) {
        String message = assertThrows(TypeConversionException.class, () -> Sizes.parse(text))
                .getMessage();
        assertTrue(message.contains("'" + text + "'"), message);
    }

    @Test
    void formattedInTheLargestUnitThatDivides() {
        assertEquals("0 bytes", Sizes.format(0));
        assertEquals("1000 bytes", Sizes.format(1000));
        assertEquals("64 KiB", Sizes.format(65536));
        assertEquals("1025 MiB", Sizes.format(1025L << 20));
        assertEquals("2 TiB", Sizes.format(2L << 40));
        assertEquals("2 PiB", Sizes.format(2L << 50));
    }
}
