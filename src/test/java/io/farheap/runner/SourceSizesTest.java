package io.farheap.runner;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.runner.SourceSizes.Size;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SourceSizesTest {

    @Test
    void filesMethodsAndListsAreMeasured(@TempDir Path root) throws IOException {
        write(root.resolve("src/main/java/Library.java"), """
                class Library {
                    static final int NONE = 0;
                    int a, b;
                    Library(int a, int b, int c) {
                        this.a = a;
                    }
                    record Pair(int left, int right) {}
                }
                """);
        write(root.resolve("modules/one/src/main/java/Module.java"), """
                class Module {
                    void run() {
                        new Object() {
                            void inside(int a, int b, int c, int d) {}
                        };
                    }
                }
                """);
        write(root.resolve("src/test/java/LongTest.java"), "class LongTest {\n".repeat(100));
        SourceSizes sizes = SourceSizes.of(root);
        assertEquals(
                List.of(
                        new Size("src/main/java/Library.java", 8),
                        new Size("modules/one/src/main/java/Module.java", 7)),
                SourceSizes.largest(sizes.files, 10));
        assertEquals(List.of(new Size("Module.run", 5), new Size("Library", 3)), SourceSizes.largest(sizes.methods, 2));
        assertEquals(
                List.of(new Size(".inside", 4), new Size("Library", 3), new Size("Pair", 2)),
                SourceSizes.largest(sizes.parameters, 3));
        assertEquals(List.of(new Size("Library", 2)), SourceSizes.largest(sizes.fields, 1));
    }

    private static void write(Path file, String text) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }
}
