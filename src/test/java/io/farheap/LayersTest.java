package io.farheap;

import static java.util.Map.entry;
import static org.junit.jupiter.api.Assertions.assertEquals;
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
 * Who may use whom: packages use those below them, and types of one package stay clear of circles. docs/architecture.md
 * draws it.
 */
class LayersTest {

    private static final String ROOT = "io.farheap.";
    /** From the bottom up. A package uses those before it alone. */
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
            "procedure",
            "cache",
            "measure",
            "tier",
            "store",
            "metrics");
    /** They talk through {@code control}, from one process to another. */
    private static final Set<String> STRANGERS = Set.of("server", "remote");
    /** What the library's jar is not to have. */
    private static final Set<String> BESIDE = Set.of("cli", "bench", "soak");
    /**
     * The types of each package that are in a circle, as many as there are now: whoever opens one lowers its number,
     * nobody raises it. Two are a pair, such as a thing and its builder; four the cache with its builder and its two
     * kinds; eight the objects of verbs, each of which makes others and is closed after them.
     */
    private static final Map<String, Integer> CIRCLES = Map.ofEntries(
            entry("cache", 4),
            entry("kv", 2),
            entry("procedure", 2),
            entry("remote", 2),
            entry("rpc", 2),
            entry("store", 2),
            entry("verbs", 8));

    private static Collection<JavaClass> classes;

    @BeforeAll
    static void read() {
        // The JDK and libraries are nobody's layer: their classes need not be read.
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

    /** The package below {@code io.farheap}; what is generated counts as its parent's. */
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

    /** Strongly connected groups of top-level types, those of one type left out. */
    private static List<List<String>> circles() {
        Map<String, Set<String>> graph = new TreeMap<>();
        for (JavaClass type : classes) {
            if (type.getPackageName().contains(".wire") || type.getPackageName().contains(".binding")) {
                continue;
            }
            Set<String> targets = graph.computeIfAbsent(top(type), name -> new TreeSet<>());
            uses(type).stream()
                    .map(LayersTest::top)
                    .filter(name -> !name.equals(top(type)))
                    .forEach(targets::add);
        }
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

    /** What a type uses, and what that uses, and so on. */
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
