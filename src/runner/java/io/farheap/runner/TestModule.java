package io.farheap.runner;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** A Maven module with tests. Its build writes the class path that they run on. */
enum TestModule {
    LIBRARY("", List.of("--add-modules=jdk.incubator.vector")),
    MANAGER("modules/manager", List.of()),
    YCSB("modules/ycsb", List.of()),
    /**
     * Its tests start hundreds of processes that live for seconds: optimising them would be a third of the cost, and
     * with the ahead-of-time cache, which they inherit too, each starts at two thirds of it.
     */
    CLI(
            "modules/cli",
            List.of(
                    "-XX:TieredStopAtLevel=1",
                    "-XX:AOTCache=" + Path.of(AheadOfTime.CACHE).toAbsolutePath(),
                    "-Xlog:aot*=off")),
    /** Stress tests of what threads share, which jcstress runs, and not JUnit. */
    JCSTRESS("modules/jcstress", List.of());

    /** Those that JUnit runs. */
    static final List<TestModule> ALL = List.of(LIBRARY, MANAGER, YCSB, CLI);

    private final String directory;
    private final List<String> jvmOptions;

    /**
     * @param directory below the root; empty for the library, which is the root
     * @param jvmOptions what its tests' JVMs get beside what all get
     */
    TestModule(String directory, List<String> jvmOptions) {
        this.directory = directory;
        this.jvmOptions = jvmOptions;
    }

    List<String> jvmOptions() {
        return jvmOptions;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Read when a JVM starts: the build has written it by then. */
    String classPath() {
        Path file = Path.of(directory, "target", "test.classpath");
        try {
            String classPath = Files.readString(file).strip();
            // The cache is of a class path that begins with the executable jar.
            return this == CLI ? AheadOfTime.jar() + ":" + classPath : classPath;
        } catch (IOException e) {
            throw new UncheckedIOException("the build has not written " + file, e);
        }
    }

    Path sources() {
        return Path.of(directory, "src", "test", "java");
    }
}
