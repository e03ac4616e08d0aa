package io.farheap.runner;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Makes the items of each suite, for one of the forms. */
final class Planner {

    static final String MAVEN = "Maven";
    private static final String CACHE = "ahead-of-time cache";
    private static final String SANITIZED = "address,undefined";

    /** Those that a device which executes as late and in any order as the specification allows can break. */
    private static final List<String> WEAK = List.of(
            "io.farheap.cache.MigrationHistoryTest",
            "io.farheap.cache.CacheSessionTest",
            "io.farheap.cache.SlowDeviceTest",
            "io.farheap.control.grpc.HostileRepliesTest",
            "io.farheap.kv.MapHistoryTest",
            "io.farheap.kv.MapSessionTest",
            "io.farheap.remote.RpcQueueTest",
            "io.farheap.resilience.CodedHistoryTest",
            "io.farheap.rpc.batch.HostileRepliesTest",
            "io.farheap.server.SpinningClientTest",
            "io.farheap.store.FarHistoryTest",
            "io.farheap.verbs.LoopbackTest");

    private static final String CODED_TEST =
            "[engine:junit-jupiter]/[class:io.farheap.resilience.CodedHistoryTest]/[test-template:";
    private static final String FIRST_CODE =
            "(io.farheap.resilience.contract.Resilience)]/[test-template-invocation:#1]";
    private static final String SESSION_TEST =
            "[engine:junit-jupiter]/[class-template:io.farheap.cache.CacheSessionTest]";

    /** Of a piece, with some room below nine minutes. */
    private static final double PIECE_SECONDS = 330;
    /** JVMs at a time, and processors, of the machine that pieces are cut for. */
    private static final double PIECE_PLACES = 4;

    private static final double PIECE_CORES = 2;

    /** How much longer what tests wait at most is than on a quiet machine. */
    private static final int SLOWNESS = 4;

    private static final int GUEST_MEBIBYTES = 3500;

    private static final Duration LONG_SILENCE = Duration.ofMinutes(25);

    private final Path root;
    private final Effort effort;
    private final Times times;

    Planner(Path root, Effort effort, Times times) {
        this.root = root;
        this.effort = effort;
        this.times = times;
    }

    // --- what others need ---

    List<Item> builds() {
        Item maven = Item.of(
                        MAVEN,
                        Suite.BUILD,
                        OutcomeReader.ofBuild(MAVEN),
                        _ -> List.of(
                                "mvn",
                                "-B",
                                "-ntp",
                                "-f",
                                "modules/pom.xml",
                                "-DskipTests",
                                "-Dfarheap.keepJar=true",
                                "package"))
                .environment(Map.of(
                        "JAVA_HOME",
                        Jdk.home(),
                        "MAVEN_OPTS",
                        with(
                                "MAVEN_OPTS",
                                " ",
                                "--enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow")))
                .slots(2)
                .seconds(1000);
        Item cache = Item.of(CACHE, Suite.BUILD, OutcomeReader.ofBuild(CACHE), _ -> AheadOfTime.record())
                .after(Set.of(MAVEN))
                .seconds(950);
        return List.of(
                maven,
                cache,
                nativeBuild("sanitized", "target/native-sanitized", SANITIZED),
                nativeBuild("threads", "target/native-threads", "thread"));
    }

    private Item nativeBuild(String name, String directory, String sanitizers) {
        return Item.of(
                        "native build: " + name,
                        Suite.BUILD,
                        OutcomeReader.ofBuild("native " + name),
                        _ -> List.of(
                                "bash",
                                "-c",
                                // Maven takes the same lock, as it builds in the release directory, too.
                                "flock native/ibverbs cmake -S native/ibverbs -B \"$0\" -DCMAKE_BUILD_TYPE=Release"
                                        + " -DFARHEAP_SANITIZE=\"$1\" -DFARHEAP_FUZZ_SECONDS=\"$2\""
                                        + " && flock \"$0\" cmake --build \"$0\" --parallel 2",
                                directory,
                                sanitizers,
                                effort == Effort.FULL ? "60" : "2"))
                .seconds(900);
    }

    /** A variable of the environment with more at its end. */
    private static String with(String variable, String separator, String more) {
        String value = System.getenv().getOrDefault(variable, "");
        return value.isBlank() ? more : value + separator + more;
    }

    // --- suites ---

    List<Item> sources() {
        Item formatted = Item.of(
                "clang-format",
                Suite.SOURCES,
                OutcomeReader.ofStatus("clang-format"),
                _ -> List.of(
                        "bash",
                        "-c",
                        "find native src '(' -name '*.[ch]' -o -name '*.cc' ')' -print0 | xargs -0 clang-format-14 --dry-run --Werror"
                                + " || { echo './farheap format formats these files'; exit 1; }"));
        Item tidy = Item.of(
                        "clang-tidy",
                        Suite.SOURCES,
                        OutcomeReader.ofStatus("clang-tidy"),
                        _ -> List.of(
                                "bash",
                                "-c",
                                "sed -n 's/^ *\"file\": \"\\(.*\\)\",\\?$/\\1/p' target/native-sanitized/compile_commands.json | sort -u"
                                        + " | tr '\\n' '\\0' | xargs -0 -P 2 -n 4 clang-tidy-14 -p target/native-sanitized --quiet"))
                .after(Set.of("native build: sanitized"))
                .seconds(60);
        Item java = Item.of(
                        "spotless",
                        Suite.SOURCES,
                        OutcomeReader.ofStatus("spotless"),
                        _ -> List.of("mvn", "-B", "-ntp", "-q", "spotless:check"))
                .environment(Map.of("JAVA_HOME", Jdk.home()))
                .after(Set.of(MAVEN))
                .seconds(40);
        return List.of(formatted, tidy, java);
    }

    private Item ctest(String flavour, String directory, String after, double seconds, String... arguments) {
        return Item.of("native: " + flavour, Suite.NATIVE, new CtestReader(flavour), scratch -> {
                    List<String> line = new ArrayList<>(List.of("ctest", "--test-dir", directory, "--parallel", "2"));
                    line.addAll(List.of("--output-on-failure", "--no-tests=error"));
                    line.addAll(List.of("--output-junit", CtestReader.file(scratch)));
                    line.addAll(List.of(arguments));
                    if (effort != Effort.FULL) {
                        line.addAll(List.of("--label-exclude", "full"));
                    }
                    return line;
                })
                .after(Set.of(after))
                .silence(LONG_SILENCE)
                .seconds(seconds);
    }

    Item nativeRelease() {
        // Maven has built the library in there, with the same flags.
        Item build = nativeBuild("release", "target/native", "");
        String stock = effort == Effort.FULL ? "stock_program" : "stock_programs";
        return ctest("release", "target/native", build.name(), 120, "--exclude-regex", stock);
    }

    Item nativeReleaseBuild() {
        return nativeBuild("release", "target/native", "").after(Set.of(MAVEN));
    }

    Item stockPrograms() {
        return ctest("stock programs", "target/native", "native build: release", 150, "-R", "^stock_programs$");
    }

    Item nativeSanitized() {
        return ctest(
                "sanitized",
                "target/native-sanitized",
                "native build: sanitized",
                100,
                "--exclude-regex",
                "stock_program");
    }

    Item nativeThreads() {
        String[] some = effort == Effort.FULL
                ? new String[] {"--exclude-regex", "stock_program"}
                : new String[] {"-R", "^(promise|lock|waiting|helper|death|descriptors|mapping)_test"};
        return ctest("threads", "target/native-threads", "native build: threads", 100, some);
    }

    /**
     * Of all modules, cut into groups.
     *
     * @param label what their names begin with
     */
    private List<Item> classes(String label, Suite suite, List<TestClass> classes) {
        Map<Kind, List<String>> kinds = new LinkedHashMap<>();
        for (TestClass one : classes) {
            boolean optimised = one.optimised() || effort != Effort.SHORT;
            kinds.computeIfAbsent(new Kind(one.module(), optimised, one.alone()), _ -> new ArrayList<>())
                    .add(one.name());
        }
        List<Item> items = new ArrayList<>();
        Map<TestModule, Integer> numbers = new HashMap<>();
        kinds.forEach((kind, names) -> {
            List<List<String>> groups =
                    kind.alone ? List.of(names) : ClassGroup.pack(names, name -> times.seconds(suite, name));
            for (List<String> group : groups) {
                int number = numbers.merge(kind.module, 1, Integer::sum);
                items.add(group(suite, kind, group, label + ": " + kind.module + " " + number));
            }
        });
        return items;
    }

    /** Classes of one may share a JVM. */
    private record Kind(TestModule module, boolean optimised, boolean alone) {

        /**
         * In a few seconds the optimising compiler and G1's threads take more than they give back: of seven classes a
         * third of all that they took. The command line has options of its own.
         */
        List<String> jvmOptions() {
            return optimised || module == TestModule.CLI
                    ? List.of()
                    : List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");
        }
    }

    private Item group(Suite suite, Kind kind, List<String> names, String name) {
        List<String> options = new ArrayList<>(List.of("-Dfarheap.verbs=soft", "-Dfarheap.slowness=" + SLOWNESS));
        options.addAll(kind.jvmOptions());
        double seconds =
                names.stream().mapToDouble(one -> times.seconds(suite, one)).sum();
        Item like = Item.of(name, suite, (_, _) -> Outcome.NOTHING, _ -> List.of())
                .environment(suite == Suite.WEAK ? Map.of("SOFTVERBS", with("SOFTVERBS", ",", "order=weak")) : Map.of())
                .alone(kind.alone)
                .silence(ClassGroup.SILENCE)
                .after(Set.of(kind.module == TestModule.CLI ? CACHE : MAVEN))
                .seconds(seconds);
        return new ClassGroup(kind.module, names, effort, List.copyOf(options)).item(like);
    }

    /** Those of the weak suite that are not there: renamed, perhaps. */
    List<String> missingOfWeak() {
        List<String> there = planned(Suite.WEAK).stream().map(TestClass::name).toList();
        return WEAK.stream().filter(name -> !there.contains(name)).toList();
    }

    /** The classes of a suite that this form has. */
    List<TestClass> planned(Suite suite) {
        List<TestClass> found = new ArrayList<>();
        for (TestModule module : TestModule.ALL) {
            for (TestClass one : TestClass.of(root, module)) {
                boolean of = suite == Suite.WEAK ? WEAK.contains(one.name()) : suite == suiteOf(one);
                if (of && (effort == Effort.FULL || !one.full())) {
                    found.add(one);
                }
            }
        }
        return found;
    }

    static Suite suiteOf(TestClass one) {
        if (one.module() == TestModule.LIBRARY) {
            return Suite.LIBRARY;
        }
        if (one.module() != TestModule.CLI) {
            return Suite.MODULES;
        }
        return one.simpleName().startsWith("Bench") && one.name().startsWith("io.farheap.cli.")
                ? Suite.BENCHMARKS
                : Suite.PROCESSES;
    }

    /** @param part a pattern for the names of tests; empty for all */
    Item jcstress(String name, String part) {
        return Item.of(name, Suite.JCSTRESS, CountReader.ofJcstress(name), scratch -> {
                    // It writes into the current directory.
                    List<String> line =
                            new ArrayList<>(List.of("bash", "-c", "cd \"$0\" && exec \"$@\"", scratch.toString()));
                    line.addAll(List.of(Jdk.java(), "--enable-native-access=ALL-UNNAMED"));
                    line.add("--sun-misc-unsafe-memory-access=allow");
                    line.addAll(List.of("-cp", TestModule.JCSTRESS.classPath(), "org.openjdk.jcstress.Main"));
                    line.addAll(List.of("-m", "quick", "-sc", "false", "-time", "300"));
                    line.addAll(List.of(
                            "-r", scratch.toAbsolutePath().resolve("results").toString()));
                    if (!part.isEmpty()) {
                        line.addAll(List.of("-t", part));
                    }
                    if (effort == Effort.FULL) {
                        line.addAll(List.of("-iters", "5"));
                    } else {
                        // In short one way to compile is enough, the one that reorders most, and one fork of it.
                        line.addAll(List.of("-iters", "3", "-fsm", "1", "-jvmArgs", "-XX:-TieredCompilation"));
                    }
                    return line;
                })
                .alone(true)
                .after(Set.of(MAVEN))
                .seconds(200);
    }

    /** A virtual machine with the kernel's RDMA devices: some of the library's tests. */
    Item guest(String name, String topology, String... classes) {
        return Item.of(name, Suite.GUEST, CountReader.ofConsole(name), _ -> {
                    List<String> line = new ArrayList<>(List.of("src/test/guest/guest", "--topology", topology));
                    line.addAll(List.of("--seconds", "1800", "src/test/guest/suite"));
                    line.addAll(List.of(classes));
                    return line;
                })
                .environment(Map.of("JAVA_HOME", Jdk.home()))
                .after(Set.of(MAVEN))
                .silence(LONG_SILENCE)
                .mebibytes(GUEST_MEBIBYTES)
                .seconds(500);
    }

    Item guestDemo(String name, String topology, String... options) {
        return Item.of(name, Suite.GUEST, OutcomeReader.ofStatus(name), _ -> {
                    // 2 MB in regions of 256 KB; the default file, 139 MiB, takes some minutes.
                    List<String> line = new ArrayList<>(List.of("src/test/guest/guest", "--topology", topology));
                    line.addAll(List.of("--seconds", "600", "./farheap", "demo", "--seconds", "5", "--region", "256k"));
                    line.addAll(List.of("--file", "/usr/lib/x86_64-linux-gnu/libc.so.6"));
                    line.addAll(List.of(options));
                    return line;
                })
                .environment(Map.of("JAVA_HOME", Jdk.home()))
                .after(Set.of(MAVEN))
                .silence(LONG_SILENCE)
                .mebibytes(GUEST_MEBIBYTES)
                .seconds(400);
    }

    // --- forms ---

    /** The items of a suite in the short form. */
    List<Item> shortItems(Suite suite) {
        return switch (suite) {
            case BUILD -> List.of();
            case SOURCES -> sources();
            case NATIVE -> List.of(nativeReleaseBuild(), nativeRelease(), nativeSanitized(), nativeThreads());
            case JCSTRESS -> List.of(jcstress("jcstress", ""));
            case GUEST ->
                // Of sessions the first two configurations: one-sided, and in batches. Of codes the first.
                List.of(guest(
                        "guest",
                        "two",
                        "--select-class=io.farheap.verbs.PairTest",
                        "--select-class=io.farheap.verbs.LoopbackTest",
                        "--select-unique-id=" + SESSION_TEST + "/[class-template-invocation:#1]",
                        "--select-unique-id=" + SESSION_TEST + "/[class-template-invocation:#2]",
                        "--select-class=io.farheap.kv.MapSessionTest",
                        "--select-method=io.farheap.kv.LeasedMapTest#whatOneProcessStoresTheOtherFinds",
                        "--select-method=io.farheap.kv.LeasedMapTest#aHotGetIsOneRead",
                        "--select-method=io.farheap.remote.RemoteSpaceTest#aSpaceToBeReadCanBeNeitherWrittenNorSwapped",
                        "--select-unique-id=" + CODED_TEST + "sessionsKeepOutOfEachOthersWay" + FIRST_CODE,
                        "--select-unique-id=" + CODED_TEST + "serversDieAndSlabsAreRegeneratedMeanwhile" + FIRST_CODE));
            case LIBRARY, WEAK, MODULES, PROCESSES, BENCHMARKS -> classes(suite.toString(), suite, planned(suite));
        };
    }

    /** The pieces of the full form, without what they need built. */
    List<Piece> pieces() {
        List<Piece> pieces = new ArrayList<>();
        pieces.add(new Piece("sources", sources()));
        pieces.add(new Piece("native-release", List.of(nativeReleaseBuild(), nativeRelease())));
        pieces.add(new Piece("native-stock", List.of(nativeReleaseBuild(), stockPrograms())));
        pieces.add(new Piece("native-sanitized", List.of(nativeSanitized())));
        pieces.add(new Piece("native-threads", List.of(nativeThreads())));
        for (Suite suite : List.of(Suite.LIBRARY, Suite.WEAK, Suite.MODULES, Suite.PROCESSES, Suite.BENCHMARKS)) {
            int number = 0;
            for (List<TestClass> part : cut(suite)) {
                String name = suite + "-" + ++number;
                pieces.add(new Piece(name, classes(name, suite, part)));
            }
        }
        pieces.add(new Piece(
                "jcstress-1", List.of(jcstress("jcstress 1", "io\\.farheap\\.(cache|migration|procedure|store)"))));
        pieces.add(new Piece(
                "jcstress-2", List.of(jcstress("jcstress 2", "io\\.farheap\\.(?!cache|migration|procedure|store).*"))));
        pieces.add(new Piece(
                "guest-verbs",
                List.of(guest(
                        "guest verbs",
                        "two",
                        "verbs.MistakesTest",
                        "verbs.PairTest",
                        "verbs.GidTest",
                        "verbs.LoopbackTest",
                        "verbs.EnvironmentTest",
                        "memory.HugePagesTest",
                        "server.PullTest"))));
        pieces.add(new Piece(
                "guest-cache",
                List.of(guest(
                        "guest cache",
                        "two",
                        "cache.CacheSessionTest",
                        "cache.FailureTest",
                        "cache.MigrationHistoryTest",
                        "cache.NetworkFaultsTest",
                        "tier.FarDeviceTest",
                        "tier.FarAndFileTest",
                        "store.FarHistoryTest"))));
        pieces.add(new Piece(
                "guest-kv",
                List.of(guest(
                        "guest kv",
                        "two",
                        "kv.MapSessionTest",
                        "kv.FarMapTest",
                        "kv.MapHistoryTest",
                        "kv.GrowTest",
                        "resilience.CodedHistoryTest"))));
        pieces.add(new Piece(
                "guest-leased",
                List.of(guest(
                        "guest leased",
                        "two",
                        "remote.RemoteSpaceTest",
                        "kv.LeasedMapTest",
                        "kv.LeasedHistoryTest",
                        "kv.LeasedReconnectTest",
                        "kv.MalformedLeasedCallTest"))));
        return pieces;
    }

    /** In the order of their names, so that pieces are the same on each machine. */
    private List<List<TestClass>> cut(Suite suite) {
        List<List<TestClass>> parts = new ArrayList<>();
        List<TestClass> part = new ArrayList<>();
        double wall = 0;
        double cpu = 0;
        for (TestClass one : planned(suite)) {
            Times.Time time = times.of(suite, one.name());
            wall += time.seconds();
            cpu += time.cpuSeconds();
            if (!part.isEmpty() && Math.max(wall / PIECE_PLACES, cpu / PIECE_CORES) > PIECE_SECONDS) {
                parts.add(part);
                part = new ArrayList<>();
                wall = time.seconds();
                cpu = time.cpuSeconds();
            }
            part.add(one);
        }
        if (!part.isEmpty()) {
            parts.add(part);
        }
        return parts;
    }

    /** Everything that can run on the kernel's RDMA. */
    List<Item> rxe() {
        return List.of(
                guest("guest: two devices", "two"),
                guest("guest: one device", "one"),
                guestDemo("guest: demo on two devices", "two", "--device", "rxe0", "--server-device", "rxe1"),
                guestDemo("guest: demo on one device", "one"));
    }
}
