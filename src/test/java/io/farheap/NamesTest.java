package io.farheap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** A name of the product names one type, so that a reader knows which. */
class NamesTest {

    @Test
    void noTwoTypesHaveTheSameName() throws IOException {
        List<String> roots = new ArrayList<>(ProductSources.beside("src/bench/java", "src/soak/java"));
        roots.add(ProductSources.LIBRARY);
        Map<String, TreeSet<String>> places = new TreeMap<>();
        for (String root : roots) {
            for (Path file : ProductSources.below(root)) {
                if (!file.endsWith("package-info.java")) {
                    places.computeIfAbsent(file.getFileName().toString(), name -> new TreeSet<>())
                            .add(file.toString());
                }
            }
        }
        assertTrue(places.size() > 1_000, "only " + places.size() + " types were found");
        places.values().removeIf(files -> files.size() == 1);
        assertEquals(Map.of(), places);
    }
}
