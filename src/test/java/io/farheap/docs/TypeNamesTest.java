package io.farheap.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The types that pages name in backticks exist, and so do their members, as {@code Type.member}. */
@Needs(Need.HOST)
class TypeNamesTest {

    /** A capital, and somewhere a small letter: constants and variables of the environment have none. */
    private static final Pattern NAME =
            Pattern.compile("(?<![\\w./@$:+-])([A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*)(?:[.#]([A-Za-z_]\\w*))?");

    private static final Pattern DECLARED = Pattern.compile("\\b(?:class|interface|record|enum)\\s+([A-Z]\\w*)");
    /** Old names of types. */
    private static final Path NAMES = Path.of("docs/contribute/names.md");

    /** Names in pages that are neither types of ours nor types of java.base. */
    private static final Set<String> OUTSIDE = Set.of(
            // Types of libraries.
            "AgentRunner",
            "FrequencySketch",
            "IDevice",
            // Variables of the system.
            "Hugepagesize",
            "LimitMEMLOCK",
            "MemAvailable",
            "MemLimit",
            "MemoryMax",
            // Other names, in messages that pages quote.
            "Farheap",
            "GiB",
            "IPv4",
            "InfiniBand",
            "JavaCPP",
            "KiB",
            "MiB",
            "ZooKeeper");

    /** The sources in which each type is declared. */
    private static final Map<String, List<String>> SOURCES = new HashMap<>();

    private static final Set<String> JDK = new HashSet<>();

    @BeforeAll
    static void read() throws IOException {
        for (Path root : List.of(Path.of("src"), Path.of("modules"))) {
            try (Stream<Path> files = Files.walk(root)) {
                for (Path file :
                        files.filter(each -> each.toString().endsWith(".java")).toList()) {
                    declare(Files.readString(file));
                }
            }
        }
        for (Page page : Page.all()) {
            page.blocks().stream()
                    .filter(block -> block.language().equals("java"))
                    .forEach(block -> declare(block.text()));
        }
        assertTrue(SOURCES.size() > 1_500, SOURCES.size() + " types");
        try (Stream<Path> classes =
                Files.walk(FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules/java.base/java"))) {
            classes.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".class"))
                    .map(name -> name.substring(0, name.length() - ".class".length()))
                    .forEach(name -> JDK.add(name.substring(name.lastIndexOf('$') + 1)));
        }
        assertTrue(JDK.contains("MemorySegment"), "the JDK's classes are not found");
    }

    private static void declare(String source) {
        DECLARED.matcher(source)
                .results()
                .map(type -> type.group(1))
                .distinct()
                .forEach(name ->
                        SOURCES.computeIfAbsent(name, _ -> new ArrayList<>()).add(source));
    }

    @Test
    void everyTypeAndMemberExists() throws IOException {
        List<String> unknown = new ArrayList<>();
        int names = 0;
        for (Page page : Page.all()) {
            if (!page.path().equals(NAMES)) {
                for (Page.Line span : page.spans()) {
                    for (MatchResult name : NAME.matcher(span.text()).results().toList()) {
                        names++;
                        if (!exists(name.group(1), name.group(2))) {
                            unknown.add(span.page() + ":" + span.number() + ": " + name.group());
                        }
                    }
                }
            }
        }
        assertTrue(names > 300, names + " names");
        assertEquals("", String.join("\n", unknown));
    }

    private static boolean exists(String type, String member) {
        List<String> sources = SOURCES.get(type);
        if (sources == null || member == null) {
            return sources != null || JDK.contains(type) || OUTSIDE.contains(type);
        }
        Pattern word = Pattern.compile("\\b" + member + "\\b");
        return JDK.contains(type)
                || sources.stream().anyMatch(source -> word.matcher(source).find());
    }
}
