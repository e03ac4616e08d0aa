package io.farheap.runner;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * A test class on disk: a file whose name ends in {@code Test.java}. Classes are found by their sources, before
 * anything is compiled.
 *
 * @param name with its package
 * @param full whether all of it is for the full form: its class has {@code @Tag("full")}, which the formatter puts at a
 *     line's beginning
 * @param alone whether it must run alone: its class has {@code @Tag("alone")}
 * @param optimised whether it needs the optimising compiler in the short form too, as what it counts to be 0 bytes is
 *     so only then: its class has {@code @Tag("optimised")}
 */
record TestClass(TestModule module, String name, boolean full, boolean alone, boolean optimised) {

    /** In the order of their names. */
    static List<TestClass> of(Path root, TestModule module) {
        Path sources = root.resolve(module.sources());
        if (!Files.isDirectory(sources)) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(sources)) {
            return files.filter(file -> file.getFileName().toString().endsWith("Test.java"))
                    .map(file -> read(module, sources, file))
                    .sorted((a, b) -> a.name.compareTo(b.name))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static TestClass read(TestModule module, Path sources, Path file) {
        String relative = sources.relativize(file).toString();
        String name =
                relative.substring(0, relative.length() - ".java".length()).replace('/', '.');
        try (Stream<String> lines = Files.lines(file)) {
            List<String> tags = lines.map(line -> line.replace("@org.junit.jupiter.api.Tag(", "@Tag("))
                    .filter(line -> line.startsWith("@Tag("))
                    .toList();
            return new TestClass(
                    module,
                    name,
                    tags.contains("@Tag(\"full\")"),
                    tags.contains("@Tag(\"alone\")"),
                    tags.contains("@Tag(\"optimised\")"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    String simpleName() {
        return name.substring(name.lastIndexOf('.') + 1);
    }
}
