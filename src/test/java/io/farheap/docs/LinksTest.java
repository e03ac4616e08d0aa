package io.farheap.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Links between pages, to their sections and images, and the pages that sources name. */
@Needs(Need.HOST)
class LinksTest {

    private static final Pattern LINK = Pattern.compile("\\]\\(([^()\\s]+)(?:\\s+\"[^\"]*\")?\\)");
    private static final Pattern DEFINITION = Pattern.compile("^\\[[^\\]]+\\]:\\s*(\\S+)");
    private static final Pattern ELSEWHERE = Pattern.compile("[a-z]+:.*");
    private static final Pattern HEADING = Pattern.compile("#{1,6}\\s+(.*?)\\s*#*");
    private static final Pattern TEXT_OF_LINK = Pattern.compile("!?\\[([^\\]]*)\\]\\([^)]*\\)");
    private static final Pattern ID = Pattern.compile("<a\\s+(?:id|name)=\"([^\"]+)\"");
    /** A page as comments, messages and scripts name it, from the root of the repository. */
    private static final Pattern NAMED = Pattern.compile("(?<![\\w./-])(docs/[\\w/-]+\\.md)\\b");

    private static final Set<String> SOURCES = Set.of("src", "modules", "native", "cmake", ".ci", ".mvn");
    private static final Pattern TEXT =
            Pattern.compile(".*\\.(java|xml|md|sh|c|h|cc|hpp|txt|proto|cmake|properties|py)");

    @Test
    void everyLinkResolves() throws IOException {
        Map<Path, Set<String>> anchors = new HashMap<>();
        List<String> broken = new ArrayList<>();
        int links = 0;
        for (Page page : Page.all()) {
            for (Page.Line line : page.prose()) {
                for (String target : targets(Page.withoutSpans(line.text()))) {
                    links++;
                    if (!resolves(page.path(), target, anchors)) {
                        broken.add(line.page() + ":" + line.number() + ": " + target);
                    }
                }
            }
        }
        assertEquals(List.of(), broken);
        assertTrue(links > 50, links + " links");
    }

    private static List<String> targets(String line) {
        return Stream.concat(
                        LINK.matcher(line).results(), DEFINITION.matcher(line).results())
                .map(link -> link.group(1))
                .filter(target -> !ELSEWHERE.matcher(target).matches())
                .toList();
    }

    private static boolean resolves(Path page, String target, Map<Path, Set<String>> anchors) throws IOException {
        int hash = target.indexOf('#');
        String file = hash < 0 ? target : target.substring(0, hash);
        Path directory = page.resolveSibling("");
        Path path = file.isEmpty() ? page : directory.resolve(file).normalize();
        if (path.isAbsolute() || path.startsWith("..") || !Files.exists(path)) {
            return false;
        }
        if (hash < 0) {
            return true;
        }
        if (!path.toString().endsWith(".md")) {
            return false;
        }
        Set<String> known = anchors.get(path);
        if (known == null) {
            known = anchors(Page.read(path));
            anchors.put(path, known);
        }
        return known.contains(target.substring(hash + 1));
    }

    /** The headings' anchors as GitHub makes them: no markup or punctuation, small letters, hyphens for blanks. */
    private static Set<String> anchors(Page page) {
        Set<String> anchors = new HashSet<>();
        Map<String, Integer> seen = new HashMap<>();
        for (Page.Line line : page.prose()) {
            ID.matcher(line.text()).results().forEach(id -> anchors.add(id.group(1)));
            var heading = HEADING.matcher(line.text());
            if (heading.matches()) {
                String text = TEXT_OF_LINK.matcher(heading.group(1)).replaceAll("$1");
                String anchor = text.toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\p{L}\\p{N} _-]", "")
                        .replace(' ', '-');
                int before = seen.merge(anchor, 1, Integer::sum) - 1;
                anchors.add(before == 0 ? anchor : anchor + "-" + before);
            }
        }
        return anchors;
    }

    /** A comment, a message or a page that names a page in words must not outlive it. */
    @Test
    void everyPageThatIsNamedExists() throws IOException {
        List<String> gone = new ArrayList<>();
        Set<Path> files = new HashSet<>();
        for (Page page : Page.all()) {
            files.add(page.path());
        }
        files.add(Path.of("farheap"));
        files.add(Path.of("pom.xml"));
        for (String root : SOURCES) {
            try (Stream<Path> below = Files.walk(Path.of(root))) {
                below.filter(file -> Files.isRegularFile(file)
                                && TEXT.matcher(file.toString()).matches()
                                && !file.toString().contains("/target/"))
                        .forEach(files::add);
            }
        }
        for (Path file : files) {
            for (String named : named(file)) {
                if (!Files.exists(Path.of(named))) {
                    gone.add(file + " names " + named);
                }
            }
        }
        assertEquals(List.of(), gone);
    }

    private static List<String> named(Path file) throws IOException {
        try {
            return NAMED.matcher(Files.readString(file))
                    .results()
                    .map(page -> page.group(1))
                    .distinct()
                    .toList();
        } catch (MalformedInputException e) {
            // The file is not UTF-8, so it is not one of our texts.
            return List.of();
        }
    }
}
