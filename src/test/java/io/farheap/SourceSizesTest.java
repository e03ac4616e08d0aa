package io.farheap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;

/** No file and no method is longer than a reader can take in. */
class SourceSizesTest {

    private static final int FILE_LINES = 500;
    /** From a body's first line to its last. */
    private static final int METHOD_LINES = 60;

    private final List<Path> sources = new ArrayList<>();

    SourceSizesTest() throws IOException {
        List<Path> roots = new ArrayList<>(List.of(Path.of("src/main/java")));
        try (Stream<Path> modules = Files.list(Path.of("modules"))) {
            modules.map(module -> module.resolve("src/main/java"))
                    .filter(Files::isDirectory)
                    .forEach(roots::add);
        }
        for (Path root : roots) {
            try (Stream<Path> files = Files.walk(root)) {
                files.filter(file -> file.toString().endsWith(".java")).forEach(sources::add);
            }
        }
        assertTrue(sources.size() > 400, "only " + sources.size() + " files were found");
    }

    @Test
    void filesAreShort() {
        List<String> longer = sources.stream()
                .filter(file -> lines(file) > FILE_LINES)
                .map(file -> file + " has " + lines(file) + " lines")
                .sorted()
                .toList();
        assertEquals(List.of(), longer, "more than " + FILE_LINES + ": find the concern that has a name of its own");
    }

    private static long lines(Path file) {
        try (Stream<String> lines = Files.lines(file)) {
            return lines.count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void methodsAreShort() throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        List<String> longer = new ArrayList<>();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            JavacTask task = (JavacTask) compiler.getTask(
                    null,
                    files,
                    diagnostic -> {},
                    List.of("-proc:none"),
                    null,
                    files.getJavaFileObjectsFromPaths(sources));
            SourcePositions positions = Trees.instance(task).getSourcePositions();
            for (CompilationUnitTree unit : task.parse()) {
                new LongMethods(unit, positions, longer).scan(unit, null);
            }
        }
        assertEquals(List.of(), longer, "more than " + METHOD_LINES + " lines");
    }

    private static final class LongMethods extends TreePathScanner<Void, Void> {

        private final CompilationUnitTree unit;
        private final SourcePositions positions;
        private final List<String> longer;

        LongMethods(CompilationUnitTree unit, SourcePositions positions, List<String> longer) {
            this.unit = unit;
            this.positions = positions;
            this.longer = longer;
        }

        @Override
        public Void visitMethod(MethodTree method, Void nothing) {
            if (method.getBody() != null) {
                long lines = line(positions.getEndPosition(unit, method.getBody()))
                        - line(positions.getStartPosition(unit, method.getBody()))
                        + 1;
                if (lines > METHOD_LINES) {
                    ClassTree owner =
                            (ClassTree) getCurrentPath().getParentPath().getLeaf();
                    longer.add(owner.getSimpleName() + "." + method.getName() + " has " + lines);
                }
            }
            return super.visitMethod(method, null);
        }

        private long line(long position) {
            return unit.getLineMap().getLineNumber(position);
        }
    }
}
