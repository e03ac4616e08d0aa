package io.farheap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.TestDevice;
import io.farheap.time.TimeLimit;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The packages that the library's module exports. Exports bind only programs on the module path. The code beside the
 * library is on the class path, so a list names the unexported types of the library that it uses.
 */
class ModuleTest {

    private static final Path FACES = Path.of("src/test/resources/faces");
    private static final Path LIST = Path.of("src/test/resources/unexported-uses.txt");
    private static final int MOST_EXPORTED = 200;
    /** Jars of libraries that only tests use. */
    private static final Pattern OF_TESTS =
            Pattern.compile(".*/(junit|opentest4j|open-test|apiguardian|archunit|slf4j)[^/]*\\.jar");

    private static final Pattern NAMED = Pattern.compile("\\bio\\.farheap((?:\\.[a-z]\\w*)*)\\.([A-Z]\\w*)");
    private static final Pattern GRPC =
            Pattern.compile("^import (static )?(io\\.grpc|com\\.google\\.protobuf|io\\.farheap\\.[\\w.]*wire)\\.");

    @TempDir
    private Path directory;

    private static Path library() throws Exception {
        return Path.of(TimeLimit.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
    }

    private static Set<String> exported() throws Exception {
        return ModuleFinder.of(library()).find("io.farheap").orElseThrow().descriptor().exports().stream()
                .map(ModuleDescriptor.Exports::source)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static String packageOf(Path source, String root) {
        return Path.of(root).relativize(source.getParent()).toString().replace('/', '.');
    }

    @Test
    void theModuleExportsFewTypes() throws Exception {
        Set<String> exported = exported();
        Set<String> types = new TreeSet<>();
        for (Path source : ProductSources.below(ProductSources.LIBRARY)) {
            String name = source.getFileName().toString().replace(".java", "");
            String owner = packageOf(source, ProductSources.LIBRARY);
            if (exported.contains(owner)
                    && !name.contains("-")
                    && Modifier.isPublic(
                            Class.forName(owner + "." + name, false, getClass().getClassLoader())
                                    .getModifiers())) {
                types.add(owner + "." + name);
            }
        }
        assertTrue(types.size() > 100, types::toString);
        assertTrue(types.size() <= MOST_EXPORTED, () -> types.size() + " public types are exported: " + types);
    }

    /** A program in a module, which imports exactly the exported packages, compiles and runs. */
    @Test
    void aModuleUsesEveryFaceAndNothingElse() throws Exception {
        String program = Files.readString(FACES.resolve("faces/Main.java"));
        Set<String> imported = Pattern.compile("^import (io\\.farheap[\\w.]*)\\.[A-Z]", Pattern.MULTILINE)
                .matcher(program)
                .results()
                .map(found -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(exported(), imported, "the program uses each exported package");
        String path = library()
                + File.pathSeparator
                + Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                        .filter(entry -> entry.endsWith(".jar") && !entry.matches(".*/farheap-[^/]*\\.jar"))
                        .filter(entry -> !OF_TESTS.matcher(entry).matches())
                        .collect(Collectors.joining(File.pathSeparator));
        StringWriter said = new StringWriter();
        int failed = ToolProvider.findFirst("javac")
                .orElseThrow()
                .run(
                        new PrintWriter(said),
                        new PrintWriter(said),
                        "-proc:none",
                        "-d",
                        directory.toString(),
                        "--module-path",
                        path,
                        FACES.resolve("module-info.java").toString(),
                        FACES.resolve("faces/Main.java").toString());
        assertEquals(0, failed, said::toString);
        Path output = directory.resolve("output");
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        TestDevice.compilerFlag(),
                        "-XX:+UseSerialGC",
                        "--enable-native-access=io.farheap,org.bytedeco.javacpp,io.grpc.netty.shaded",
                        "--sun-misc-unsafe-memory-access=allow",
                        "-Dfarheap.verbs=soft",
                        "-p",
                        directory + File.pathSeparator + path,
                        "-m",
                        "faces/faces.Main")
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertTrue(
                    child.waitFor(TestDevice.patience(TimeUnit.SECONDS.toNanos(60)), TimeUnit.NANOSECONDS),
                    "the program goes on");
        } finally {
            child.destroyForcibly();
        }
        String text = Files.readString(output);
        assertTrue(text.contains("every face was used"), text);
        assertEquals(0, child.exitValue(), text);
    }

    /** A source uses a type if it names it in full, or by its simple name from a package of the same name. */
    @Test
    void whatStandsBesideTheLibraryUsesTheseUnexportedTypes() throws Exception {
        Set<String> exported = exported();
        Set<String> own = new TreeSet<>();
        for (Path source : ProductSources.below(ProductSources.LIBRARY)) {
            own.add(packageOf(source, ProductSources.LIBRARY) + "."
                    + source.getFileName().toString().replace(".java", ""));
        }
        Set<String> used = new TreeSet<>();
        for (String root : beside()) {
            for (Path source : ProductSources.below(root)) {
                String text = Files.readString(source);
                String owner = packageOf(source, root);
                Matcher named = NAMED.matcher(text);
                while (named.find()) {
                    String home = "io.farheap" + named.group(1);
                    if (own.contains(home + "." + named.group(2)) && !exported.contains(home)) {
                        used.add(home + "." + named.group(2));
                    }
                }
                for (String type : own) {
                    int dot = type.lastIndexOf('.');
                    if (type.substring(0, dot).equals(owner)
                            && !exported.contains(owner)
                            && Pattern.compile("\\b" + type.substring(dot + 1) + "\\b")
                                    .matcher(text)
                                    .find()) {
                        used.add(type);
                    }
                }
            }
        }
        assertEquals(
                String.join("\n", Files.readAllLines(LIST)),
                String.join("\n", used),
                () -> LIST + " lists the types in use: add one that must be used, too");
    }

    @Test
    void twoPackagesAndOneRoomImportGrpc() throws Exception {
        Set<String> importers = new TreeSet<>();
        List<String> roots = new ArrayList<>(beside());
        roots.add(ProductSources.LIBRARY);
        for (String root : roots) {
            for (Path source : ProductSources.below(root)) {
                if (Files.readAllLines(source).stream()
                        .anyMatch(line -> GRPC.matcher(line).find())) {
                    importers.add(packageOf(source, root));
                }
            }
        }
        assertEquals(
                Set.of("io.farheap.control.grpc", "io.farheap.manager.grpc", "io.farheap.manager.service.grpc"),
                importers);
    }

    private static List<String> beside() throws IOException {
        return ProductSources.beside("src/bench/java", "src/soak/java", "src/jmh/java");
    }
}
