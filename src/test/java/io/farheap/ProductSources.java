package io.farheap;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The Java sources of the product, for tests of the whole of it. */
final class ProductSources {

    static final String LIBRARY = "src/main/java";

    private ProductSources() {}

    /** Source roots of the code beside the library: the given roots, and the modules' roots. */
    static List<String> beside(String... roots) throws IOException {
        List<String> all = new ArrayList<>(List.of(roots));
        try (Stream<Path> modules = Files.list(Path.of("modules"))) {
            modules.map(module -> module.resolve("src/main/java").toString())
                    .sorted()
                    .forEach(all::add);
        }
        return all;
    }

    /** All Java files below a root; an empty list if there is no such directory. */
    static List<Path> below(String root) throws IOException {
        if (!Files.isDirectory(Path.of(root))) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(Path.of(root))) {
            return files.filter(file -> file.toString().endsWith(".java")).toList();
        }
    }
}
