package io.farheap.runner;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import javax.lang.model.element.Modifier;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * The longest files, methods, parameter lists and field lists of the product. No number decides a cut: a reviewer of a
 * change looks at them.
 */
final class SourceSizes {

    /** @param place a file, or a class with its method */
    record Size(String place, long count) {}

    final List<Size> files = new ArrayList<>();
    final List<Size> methods = new ArrayList<>();
    final List<Size> parameters = new ArrayList<>();
    final List<Size> fields = new ArrayList<>();

    private SourceSizes() {}

    /**
     * Reads the sources of the library and of all modules, without their tests.
     *
     * @param root a checkout
     */
    static SourceSizes of(Path root) {
        try {
            List<Path> roots = new ArrayList<>(List.of(root.resolve("src/main/java")));
            if (Files.isDirectory(root.resolve("modules"))) {
                try (Stream<Path> modules = Files.list(root.resolve("modules"))) {
                    modules.map(module -> module.resolve("src/main/java")).forEach(roots::add);
                }
            }
            List<Path> sources = new ArrayList<>();
            for (Path one : roots) {
                if (Files.isDirectory(one)) {
                    try (Stream<Path> below = Files.walk(one)) {
                        below.filter(file -> file.toString().endsWith(".java")).forEach(sources::add);
                    }
                }
            }
            SourceSizes sizes = new SourceSizes();
            sizes.read(root, sources);
            return sizes;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void read(Path root, List<Path> sources) throws IOException {
        for (Path file : sources) {
            try (Stream<String> lines = Files.lines(file)) {
                files.add(new Size(root.relativize(file).toString(), lines.count()));
            }
        }
        if (sources.isEmpty()) {
            return;
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            JavacTask task = (JavacTask) compiler.getTask(
                    null,
                    manager,
                    diagnostic -> {},
                    List.of("-proc:none"),
                    null,
                    manager.getJavaFileObjectsFromPaths(sources));
            SourcePositions positions = Trees.instance(task).getSourcePositions();
            for (CompilationUnitTree unit : task.parse()) {
                new Scanner(unit, positions).scan(unit, null);
            }
        }
    }

    /** The largest first. */
    static List<Size> largest(List<Size> sizes, int count) {
        return sizes.stream()
                .sorted(Comparator.comparingLong(Size::count).reversed().thenComparing(Size::place))
                .limit(count)
                .toList();
    }

    void print(int count) {
        print("longest files, lines:", files, count);
        print("longest methods, lines:", methods, count);
        print("longest lists of parameters:", parameters, count);
        print("longest lists of fields:", fields, count);
    }

    private static void print(String title, List<Size> sizes, int count) {
        System.out.println(title);
        largest(sizes, count).forEach(size -> System.out.printf("  %5d  %s%n", size.count, size.place));
    }

    private final class Scanner extends TreePathScanner<Void, Void> {

        private final CompilationUnitTree unit;
        private final SourcePositions positions;

        Scanner(CompilationUnitTree unit, SourcePositions positions) {
            this.unit = unit;
            this.positions = positions;
        }

        @Override
        public Void visitClass(ClassTree type, Void nothing) {
            long own = type.getMembers().stream()
                    .filter(VariableTree.class::isInstance)
                    .filter(field ->
                            !((VariableTree) field).getModifiers().getFlags().contains(Modifier.STATIC))
                    .count();
            if (!type.getSimpleName().isEmpty()) {
                // A record's components are its parameters, too.
                (type.getKind() == Tree.Kind.RECORD ? parameters : fields)
                        .add(new Size(type.getSimpleName().toString(), own));
            }
            return super.visitClass(type, null);
        }

        @Override
        public Void visitMethod(MethodTree method, Void nothing) {
            if (getCurrentPath().getParentPath().getLeaf() instanceof ClassTree owner && method.getBody() != null) {
                String name = owner.getSimpleName()
                        + (method.getName().contentEquals("<init>") ? "" : "." + method.getName());
                methods.add(new Size(
                        name,
                        line(positions.getEndPosition(unit, method.getBody()))
                                - line(positions.getStartPosition(unit, method.getBody()))
                                + 1));
                if (owner.getKind() != Tree.Kind.RECORD || !method.getName().contentEquals("<init>")) {
                    parameters.add(new Size(name, method.getParameters().size()));
                }
            }
            return super.visitMethod(method, null);
        }

        private long line(long position) {
            return unit.getLineMap().getLineNumber(position);
        }
    }
}
