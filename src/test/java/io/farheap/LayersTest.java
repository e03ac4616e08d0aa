package io.farheap;

import static java.util.Map.entry;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.ArchConfiguration;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.farheap.time.TimeLimit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * A package uses only packages below it, and the types of a package form no circles but the known ones.
 * docs/design/house.md shows the layers.
 */
class LayersTest {

    private static final String ROOT = "io.farheap.";
    /** The packages from the bottom up. A package uses only packages before it. */
    private static final List<String> LAYERS = List.of(
            "time",
            "lifetime",
            "coding",
            "posix",
            "latency",
            "ring",
            "slo",
            "verbs",
            "thread",
            "memory",
            "connection",
            "rpc",
            "control",
            "manager",
            "server",
            "remote",
            "resilience",
            "migration",
            "procedure",
            "kv",
            "cache",
            "measure",
            "tier",
            "store",
            "metrics");
    /** These packages run in different processes and communicate through {@code control}: neither uses the other. */
    private static final Set<String> STRANGERS = Set.of("server", "remote");
    /** Packages that must not be in the library's jar. */
    private static final Set<String> BESIDE = Set.of("cli", "bench", "soak");
    /**
     * The number of types of each package that are in a circle now. A change that opens a circle lowers the number; no
     * change raises it. Two types are a pair, such as a thing and its builder; the four are the cache with its builder
     * and its two kinds; the seven are the objects of verbs, each of which makes others and is closed after them.
     */
    private static final Map<String, Integer> CIRCLES = Map.ofEntries(
            entry("cache", 4),
            entry("kv", 2),
            entry("procedure", 2),
            entry("remote", 2),
            entry("rpc", 2),
            entry("store", 2),
            entry("verbs", 7));

    /**
     * The rooms of each system, from the bottom up; "face" is the package that has the system's name. A room uses only
     * rooms before it.
     */
    private static final Map<String, List<String>> ROOMS = Map.ofEntries(
            entry("control", List.of("text", "face", "plane", "lease", "threads", "grpc")),
            entry("rpc", List.of("message", "face", "batch")),
            entry("migration", List.of("face", "region")),
            entry("thread", List.of("idle", "face")),
            entry("manager", List.of("face", "grpc", "client")),
            entry(
                    "server",
                    List.of(
                            "contract",
                            "service",
                            "fence",
                            "budget",
                            "pool",
                            "thread",
                            "pull",
                            "lease",
                            "space",
                            "face")),
            entry("remote", List.of("contract", "device", "server", "queue", "face")),
            entry("resilience", List.of("contract", "table", "session", "keeper", "face")),
            entry(
                    "kv",
                    List.of(
                            "contract",
                            "policy",
                            "replacement",
                            "format",
                            "leased.format",
                            "space",
                            "blocks",
                            "keeper",
                            "eviction",
                            "operation",
                            "session",
                            "leased.client",
                            "elastic",
                            "face")),
            entry("procedure.translate", List.of("running", "instruction", "reading", "flow", "weaving", "face")),
            entry(
                    "cache",
                    List.of(
                            "contract",
                            "order",
                            "route",
                            "onesided",
                            "batch",
                            "calls",
                            "session",
                            "objective",
                            "managed",
                            "handover",
                            "move",
                            "paths",
                            "coded",
                            "face")),
            entry("tier", List.of("device", "handle", "file", "tiered", "face")),
            entry(
                    "store",
                    List.of(
                            "contract",
                            "format",
                            "index",
                            "log",
                            "operation",
                            "session",
                            "maintain",
                            "checkpoint",
                            "face")));
    /** Packages of a system that are not among its rooms, with the rooms that they may use. */
    private static final Map<String, Set<String>> ANNEXES = Map.of(
            "kv.service", Set.of("format", "contract", "policy", "replacement"),
            "kv.leased.server", Set.of("format", "contract", "leased.format"));
    /** The client's half of each system: a server's process has none of these packages. */
    private static final Set<String> CLIENTS =
            Set.of("cache", "kv", "store", "tier", "resilience", "remote", "migration");

    private static Collection<JavaClass> classes;

    @BeforeAll
    static void read() {
        // The JDK and other libraries belong to no layer, so their classes need not be read.
        ArchConfiguration.get().setResolveMissingDependenciesFromClassPath(false);
        classes = new ClassFileImporter()
                        .withImportOption(place -> !place.contains("/wire/") && !place.contains("/binding/"))
                        .importUrl(TimeLimit.class
                                .getProtectionDomain()
                                .getCodeSource()
                                .getLocation())
                        .stream()
                        .filter(type -> !BESIDE.contains(room(type)))
                        .toList();
        assertTrue(classes.size() > 200, "only " + classes.size() + " classes were found");
    }

    /** The first package below {@code io.farheap}, to which its subpackages belong; generated ones too. */
    private static String room(JavaClass type) {
        String name = type.getPackageName();
        return name.startsWith(ROOT) ? name.substring(ROOT.length()).split("\\.")[0] : "";
    }

    private static Set<JavaClass> uses(JavaClass type) {
        return type.getDirectDependenciesFromSelf().stream()
                .map(Dependency::getTargetClass)
                .map(JavaClass::getBaseComponentType)
                .filter(used -> used.getPackageName().startsWith(ROOT))
                .collect(Collectors.toSet());
    }

    @Test
    void everyPackageHasItsPlace() {
        Set<String> rooms = classes.stream().map(LayersTest::room).collect(Collectors.toCollection(TreeSet::new));
        assertEquals(new TreeSet<>(LAYERS), rooms, "a package is new or gone: LAYERS says where it stands");
    }

    @Test
    void packagesUseThoseBelowThem() {
        Set<String> wrong = new TreeSet<>();
        for (JavaClass type : classes) {
            int own = LAYERS.indexOf(room(type));
            for (JavaClass used : uses(type)) {
                boolean strangers = STRANGERS.contains(room(type))
                        && STRANGERS.contains(room(used))
                        && !room(type).equals(room(used));
                if (LAYERS.indexOf(room(used)) > own || strangers || BESIDE.contains(room(used))) {
                    wrong.add(type.getName() + " -> " + used.getName());
                }
            }
        }
        assertEquals(Set.of(), wrong);
    }

    @Test
    void everyRoomHasItsPlace() {
        Set<String> found = new TreeSet<>();
        for (JavaClass type : classes) {
            String pack = pack(type.getName());
            String system = system(pack);
            if (system != null && !ANNEXES.containsKey(pack)) {
                found.add(system + " " + roomOf(system, pack));
            }
        }
        Set<String> planned = new TreeSet<>();
        ROOMS.forEach((system, rooms) -> rooms.forEach(room -> planned.add(system + " " + room)));
        assertEquals(planned, found, "a room is new or gone: ROOMS says where it stands");
    }

    @Test
    void roomsUseThoseBelowThem() {
        assertEquals(Set.of(), roomsUsedFromBelow(graph()));
    }

    /** Each rule finds a dependency that it forbids, and an allowed one passes. */
    @Test
    void anArrowThatPointsUpIsFound() {
        assertFalse(roomsUsedFromBelow(arrow("cache.order.Low", "cache.session.High"))
                .isEmpty());
        assertFalse(roomsUsedFromBelow(arrow("kv.space.Low", "kv.High")).isEmpty());
        assertFalse(roomsUsedFromBelow(arrow("kv.service.Served", "kv.session.Client"))
                .isEmpty());
        assertFalse(roomsUsedFromBelow(arrow("kv.session.Client", "kv.service.Served"))
                .isEmpty());
        assertFalse(roomsUsedFromBelow(arrow("cache.session.Client", "server.lease.Served"))
                .isEmpty());
        assertEquals(Set.of(), roomsUsedFromBelow(arrow("cache.session.High", "cache.order.Low")));
    }

    private static Map<String, Set<String>> arrow(String from, String to) {
        return Map.of(ROOT + from, Set.of(ROOT + to));
    }

    /** Dependencies of a room on one above it, between a system and its annex, or of a client on a server. */
    private static Set<String> roomsUsedFromBelow(Map<String, Set<String>> graph) {
        Set<String> wrong = new TreeSet<>();
        graph.forEach((type, targets) -> {
            String from = pack(type);
            for (String target : targets) {
                String to = pack(target);
                if (!from.equals(to) && !mayUse(from, to)) {
                    wrong.add(type + " -> " + target);
                }
            }
        });
        return wrong;
    }

    private static boolean mayUse(String from, String to) {
        boolean annex = ANNEXES.containsKey(from);
        if (CLIENTS.contains(from.split("\\.")[0]) && !annex && to.split("\\.")[0].equals("server")) {
            return false;
        }
        String system = system(from);
        if (system == null || !system.equals(system(to))) {
            return true;
        }
        if (annex) {
            return ANNEXES.get(from).contains(roomOf(system, to));
        }
        return !ANNEXES.containsKey(to)
                && ROOMS.get(system).indexOf(roomOf(system, to))
                        < ROOMS.get(system).indexOf(roomOf(system, from));
    }

    /** A type's package below {@code io.farheap}. */
    private static String pack(String type) {
        return type.substring(ROOT.length(), type.lastIndexOf('.'));
    }

    /** The system that a package belongs to, or null. */
    private static String system(String pack) {
        return ROOMS.keySet().stream()
                .filter(name -> pack.equals(name) || pack.startsWith(name + "."))
                .findFirst()
                .orElse(null);
    }

    private static String roomOf(String system, String pack) {
        return pack.equals(system) ? "face" : pack.substring(system.length() + 1);
    }

    @Test
    void noTypeJoinsACircle() {
        Map<String, Integer> found = new TreeMap<>();
        Set<String> circles = new TreeSet<>();
        for (List<String> circle : circles()) {
            String room = circle.getFirst().substring(ROOT.length()).split("\\.")[0];
            found.merge(room, circle.size(), Integer::sum);
            circles.add(circle.toString());
        }
        assertEquals(CIRCLES, found, () -> "the circles are " + String.join("\n", circles));
    }

    /** The types that each top-level type uses; generated types are left out. */
    private static Map<String, Set<String>> graph() {
        Map<String, Set<String>> graph = new TreeMap<>();
        for (JavaClass type : classes) {
            if (type.getPackageName().contains(".wire") || type.getPackageName().contains(".binding")) {
                continue;
            }
            Set<String> targets = graph.computeIfAbsent(top(type), name -> new TreeSet<>());
            uses(type).stream()
                    .filter(used -> !used.getPackageName().contains(".wire"))
                    .map(LayersTest::top)
                    .filter(name -> !name.equals(top(type)))
                    .forEach(targets::add);
        }
        return graph;
    }

    /** The strongly connected groups of two or more top-level types. */
    private static List<List<String>> circles() {
        Map<String, Set<String>> graph = graph();
        List<List<String>> circles = new ArrayList<>();
        Set<String> done = new HashSet<>();
        for (String name : graph.keySet()) {
            if (!done.contains(name)) {
                Set<String> circle = new TreeSet<>(reach(name, graph));
                circle.removeIf(other -> !reach(other, graph).contains(name));
                done.addAll(circle);
                if (circle.size() > 1) {
                    circles.add(List.copyOf(circle));
                }
            }
        }
        return circles;
    }

    private static final Map<String, Set<String>> REACHED = new HashMap<>();

    /** The types that a type uses, directly or through others. */
    private static Set<String> reach(String from, Map<String, Set<String>> graph) {
        return REACHED.computeIfAbsent(from, name -> {
            Set<String> seen = new HashSet<>();
            Deque<String> next = new ArrayDeque<>(graph.getOrDefault(name, Set.of()));
            while (!next.isEmpty()) {
                String type = next.pop();
                if (seen.add(type)) {
                    next.addAll(graph.getOrDefault(type, Set.of()));
                }
            }
            return seen;
        });
    }

    private static String top(JavaClass type) {
        String name = type.getName();
        int nested = name.indexOf('$');
        return nested < 0 ? name : name.substring(0, nested);
    }
}
