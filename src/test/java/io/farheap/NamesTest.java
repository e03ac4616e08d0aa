package io.farheap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A name of the product is one type's: whoever reads it knows which. */
class NamesTest {

    @Test
    void noTwoTypesHaveTheSameName() throws IOException {
        List<Path> roots =
                new ArrayList<>(List.of(Path.of("src/main/java"), Path.of("src/bench/java"), Path.of("src/soak/java")));
        try (Stream<Path> modules = Files.list(Path.of("modules"))) {
            modules.map(module -> module.resolve("src/main/java"))
                    .filter(Files::isDirectory)
                    .forEach(roots::add);
        }
        Map<String, TreeSet<String>> places = new TreeMap<>();
        for (Path root : roots) {
            try (Stream<Path> files = Files.walk(root)) {
                files.filter(file -> file.toString().endsWith(".java"))
                        .filter(file -> !file.endsWith("package-info.java"))
                        .forEach(file -> places.computeIfAbsent(
                                        file.getFileName().toString(), name -> new TreeSet<>())
                                .add(file.toString()));
            }
        }
        assertTrue(places.size() > 1_000, "only " + places.size() + " types were found");
        places.values().removeIf(files -> files.size() == 1);
        assertEquals(Map.of(), places);
    }
}
