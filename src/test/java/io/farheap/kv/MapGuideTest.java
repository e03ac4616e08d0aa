package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.docs.PageExample;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The examples of docs/guide/map.md, compiled and run as they stand. */
@Isolated("it looks at what the process prints")
class MapGuideTest {

    private static final long REGION_BYTES = 1 << 20;
    private static final int REGIONS = 24;

    @ParameterizedTest
    @CsvSource({"Stock, 42", "Lookup, loaf"})
    void theExampleWorks(String name, String printed, @TempDir Path directory) throws Exception {
        try (TestServers servers = new TestServers("guide");
                PageExample example = new PageExample("docs/guide/map.md", directory, name)) {
            assertEquals(List.of(printed), example.run(servers.startAll(1, REGIONS, REGION_BYTES)));
        }
    }
}
