package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;

/** The contents of the built jars; the working directory is the checkout. */
class JarsTest {

    /** Prefixes of names. The raw loop and the simulated system are benchmarks' in packages of the library. */
    private static final List<String> NOT_OF_THE_LIBRARY = List.of(
            "io/farheap/cli/",
            "io/farheap/command/",
            "io/farheap/manager/provider/",
            "io/farheap/manager/service/",
            "io/farheap/manager/simulator/",
            "io/farheap/manager/state/",
            "io/farheap/bench/",
            "io/farheap/soak/",
            "io/farheap/slo/PrunedTraversal",
            "io/farheap/slo/SimulatedSystem",
            "io/farheap/verbs/RawLoop",
            "io/farheap/verbs/linux-x86_64/libfarheap_raw_loop",
            "META-INF/services/io.farheap.command");

    private static Path jar(String directory, String name) {
        try (Stream<Path> files = Files.list(Path.of(directory))) {
            List<Path> jars = files.filter(file -> file.getFileName().toString().matches(name))
                    .toList();
            assertEquals(1, jars.size(), () -> "jars in " + directory + " whose name is " + name + ": " + jars);
            return jars.getFirst();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Set<String> names(Path jar) throws IOException {
        try (JarFile file = new JarFile(jar.toFile())) {
            return file.stream()
                    .filter(entry -> !entry.isDirectory())
                    .map(ZipEntry::getName)
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    private static Path library() {
        return jar("target", "farheap-[0-9.]+(-SNAPSHOT)?\\.jar");
    }

    /** The executable is no module, and has no description of one. */
    private static boolean isType(String name) {
        return name.endsWith(".class") && !name.equals("module-info.class");
    }

    private static List<String> packages(Set<String> names) {
        return names.stream()
                .filter(JarsTest::isType)
                .map(name -> name.substring(0, name.lastIndexOf('/')))
                .distinct()
                .toList();
    }

    @Test
    void theLibraryHasNoneOfTheCommandLine() throws IOException {
        Set<String> names = names(library());
        assertTrue(
                names.containsAll(List.of(
                        "io/farheap/cache/Cache.class",
                        "io/farheap/remote/RemoteMemory.class",
                        "io/farheap/measure/CacheMeasurement.class",
                        "io/farheap/verbs/linux-x86_64/libsoftverbs.so",
                        "io/farheap/verbs/linux-x86_64/libfarheap_binding.so")),
                names::toString);
        assertEquals(
                List.of(),
                names.stream()
                        .filter(name -> NOT_OF_THE_LIBRARY.stream().anyMatch(name::startsWith))
                        .toList());
    }

    /** The library's jar contains no other project's classes; its POM names its dependencies. */
    @Test
    void theLibraryHasItsOwnClassesAlone() throws IOException {
        assertEquals(
                List.of(),
                packages(names(library())).stream()
                        .filter(name -> !name.startsWith("io/farheap/"))
                        .toList());
    }

    @Test
    void theExecutableHasEverything() throws IOException {
        Set<String> names = names(jar("modules/cli/target", "farheap-cli-[0-9.]+(-SNAPSHOT)?-all\\.jar"));
        assertTrue(names.containsAll(
                names(library()).stream().filter(JarsTest::isType).toList()));
        for (String prefix : NOT_OF_THE_LIBRARY) {
            assertTrue(names.stream().anyMatch(name -> name.startsWith(prefix)), prefix);
        }
    }

    /**
     * ZooKeeper needs classes of these to start, and nothing else of them: gRPC has a Netty of its own, under another
     * name.
     */
    @Test
    void ofZooKeepersDependenciesTheExecutableHasWhatItNeeds() throws IOException {
        Set<String> names = names(jar("modules/cli/target", "farheap-cli-[0-9.]+(-SNAPSHOT)?-all\\.jar"));
        assertTrue(names.containsAll(List.of(
                "org/apache/zookeeper/server/ZooKeeperServerMain.class",
                "com/codahale/metrics/Reservoir.class",
                "org/xerial/snappy/SnappyInputStream.class",
                "io/netty/handler/ssl/DelegatingSslContext.class")));
        assertEquals(
                List.of(),
                names.stream()
                        .filter(name -> name.startsWith("org/xerial/snappy/native/")
                                || name.startsWith("io/netty/") && !name.startsWith("io/netty/handler/ssl/"))
                        .toList());
    }
}
