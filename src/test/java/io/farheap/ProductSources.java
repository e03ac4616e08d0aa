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

    /** Roots of what stands beside the library: the given ones, and those of the modules. */
    static List<String> beside(String... roots) throws IOException {
        List<String> all = new ArrayList<>(List.of(roots));
        try (Stream<Path> modules = Files.list(Path.of("modules"))) {
            modules.map(module -> module.resolve("src/main/java").toString())
                    .sorted()
                    .forEach(all::add);
        }
        return all;
    }

    /** All below a root; none if there is no such directory. */
    static List<Path> below(String root) throws IOException {
        if (!Files.isDirectory(Path.of(root))) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(Path.of(root))) {
            return files.filter(file -> file.toString().endsWith(".java")).toList();
        }
    }
}
