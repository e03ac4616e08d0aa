package io.farheap.runner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A piece has passed for the sources that it ran with and for no others; each test class on disk is in a suite. */
class SourcesTest {

    @TempDir
    Path root;

    @Test
    void eachChangeIsAnotherChecksum() throws Exception {
        Path file = Files.writeString(root.resolve("docs.md"), "a");
        String first = Sources.checksum(root);
        assertEquals(first, Sources.checksum(root));
        Files.writeString(file, "b");
        String second = Sources.checksum(root);
        assertNotEquals(first, second);
        Path moved = Files.move(file, root.resolve("other.md"));
        assertNotEquals(second, Sources.checksum(root));
        assertTrue(moved.toFile().setExecutable(true));
        assertNotEquals(second, Sources.checksum(root));
        String third = Sources.checksum(root);
        Files.createDirectories(root.resolve("modules/cli/target"));
        Files.writeString(root.resolve("modules/cli/target/made"), "by a build");
        assertEquals(third, Sources.checksum(root));
    }

    @Test
    void aStampIsForItsSources() {
        Stamps stamps = new Stamps(root.resolve("stamps"));
        Piece piece = new Piece("one", List.of());
        assertFalse(stamps.has(piece, "a"));
        stamps.put(piece, "a");
        assertTrue(stamps.has(piece, "a"));
        assertFalse(stamps.has(piece, "b"));
        stamps.remove(piece);
        assertFalse(stamps.has(piece, "a"));
    }

    @Test
    void aClassInNoSuiteIsFound() throws Exception {
        Files.createDirectories(root.resolve("src/test/java"));
        Files.createDirectories(root.resolve("modules/other/src/test/java"));
        Files.writeString(root.resolve("src/test/java/KnownTest.java"), "");
        Files.writeString(root.resolve("modules/other/src/test/java/LostTest.java"), "");
        assertEquals(List.of("modules/other/src/test/java/LostTest.java"), Main.inNoSuite(root));
        assertEquals(List.of(), Main.inNoSuite(Path.of("").toAbsolutePath()));
    }

    @Test
    void tagsOfAClassAreReadFromItsSource() throws Exception {
        Path sources = root.resolve("src/test/java/io/farheap");
        Files.createDirectories(sources);
        Files.writeString(
                sources.resolve("FullTest.java"), "package io.farheap;\n\n@Tag(\"full\")\nclass FullTest {}\n");
        Files.writeString(
                sources.resolve("SomeTest.java"), "package io.farheap;\n\nclass SomeTest {\n    @Tag(\"full\")\n}\n");
        Files.writeString(
                sources.resolve("AloneTest.java"), "@Tag(\"alone\")\n@Tag(\"optimised\")\nclass AloneTest {}\n");
        List<TestClass> found = TestClass.of(root, TestModule.LIBRARY);
        assertEquals(
                List.of("io.farheap.AloneTest", "io.farheap.FullTest", "io.farheap.SomeTest"),
                found.stream().map(TestClass::name).toList());
        assertEquals(
                List.of(false, true, false), found.stream().map(TestClass::full).toList());
        assertEquals(
                List.of(true, false, false),
                found.stream().map(TestClass::alone).toList());
        assertEquals(
                List.of(true, false, false),
                found.stream().map(TestClass::optimised).toList());
    }
}
