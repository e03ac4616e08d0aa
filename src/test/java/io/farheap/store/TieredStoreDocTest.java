package io.farheap.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.docs.PageExample;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** The example of docs/guide/store.md, compiled and run as it stands, twice: the second run continues the first. */
@Needs(Need.HOST)
@Isolated("it looks at what the process prints")
class TieredStoreDocTest {

    @Test
    void theExampleWorks(@TempDir Path directory) throws Exception {
        try (PageExample example = new PageExample("docs/guide/store.md", directory, "Example")) {
            String store = directory.resolve("store").toString();
            assertEquals(List.of("1"), example.run(store));
            assertEquals(List.of("2"), example.run(store));
        }
    }
}
