package io.farheap.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The text of a size has a unit and shows the exact value. */
class ByteSizeTest {

    @ParameterizedTest
    @CsvSource({
        "0, 0 bytes",
        "1, 1 bytes",
        "1000, 1000 bytes",
        "4096, 4 KiB",
        "67108864, 64 MiB",
        "1074790400, 1025 MiB",
        "9223372036854775807, 8.0 EiB (9223372036854775807 bytes)",
        "145959730, 139.2 MiB (145959730 bytes)",
        "-4096, -4 KiB"
    })
    void text(long bytes, String text) {
        assertEquals(text, ByteSize.text(bytes));
    }
}
