package io.farheap.bench.figures;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Terms choose rows and print one value of them. */
class FigureTermTest {

    private static final List<JsonObject> ROWS = JsonParser.parseString("""
        [
          {"op": "get", "peer": "file, direct", "p50_ns": 66809.0, "ratio": 2},
          {"op": "get", "peer": "Redis", "p50_ns": 75513.4, "ratio": 3, "none": null},
          {"op": "put", "peer": "Redis", "p50_ns": 74661.0, "ratio": null, "invalid": true},
          {"peer": "memcached", "absent": "it is not installed"}
        ]
        """).getAsJsonArray().asList().stream()
            .map(row -> row.getAsJsonObject())
            .toList();

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "p50_ns op=get peer=Redis %,.1f; 75,513.4",
                "p50_ns op=put peer=Redis %,d; 74,661",
                "p50_ns op=get peer=\"file, direct\" /1000 %.1f; 66.8",
                "peer op=put; Redis",
                "peer op=get,put peer=Redis %s; Redis",
                "least p50_ns peer=Redis %.0f; 74661",
                "most p50_ns op=get %.0f; 75513",
                "p50_ns peer=memcached %d; -",
                "none peer=Redis %d; -",
                "peer absent=- op=put; Redis",
                "ratio op=put %.1f; invalid",
                "p50_ns op=put /1e3 %.1f; 74.7",
            })
    void aValueIsPrinted(String term, String printed) {
        assertEquals(printed, FigureTerm.parse(term).print(ROWS));
    }

    @Test
    void rowsWithDifferentValuesAreRefused() {
        FigureTerm term = FigureTerm.parse("p50_ns op=get %d");
        String message = assertThrows(IllegalArgumentException.class, () -> term.print(ROWS))
                .getMessage();
        assertTrue(message.startsWith("'p50_ns op=get %d': 2 rows with different values match"), message);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '^',
            value = {
                "p50_ns %x; its format %x must be one of",
                "p50_ns /x; /x must be / and a number",
                "p50_ns read; 'read' must be a field",
                "p50_ns op=; 'op=' must be a field",
            })
    void aWrongTermIsRefused(String term, String part) {
        String message = assertThrows(IllegalArgumentException.class, () -> FigureTerm.parse(term))
                .getMessage();
        assertTrue(message.contains(part), message);
    }
}
