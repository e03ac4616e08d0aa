package io.farheap.bench.figures;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A page with the places of its figures. A place begins with {@code <!-- figure NAME TEMPLATE -->} and ends with
 * {@code <!-- /figure -->}; both are lines of their own, and neither is inside a block between fences.
 *
 * @param path from the root of the checkout
 */
record MarkedPage(Path path, List<String> lines, List<Marker> markers) {

    /**
     * A place for a figure.
     *
     * @param line the number of its first line, from 1
     * @param content the lines between the first and the last
     */
    record Marker(String figure, String template, int line, List<String> content) {}

    private static final Pattern BEGIN = Pattern.compile("<!-- figure ([a-z0-9-]+) ([a-z0-9-]+) -->");
    private static final String END = "<!-- /figure -->";
    private static final Pattern EITHER = Pattern.compile("\\s*<!--\\s*/?figure\\b.*");
    private static final String FENCE = "```";

    /** @throws IllegalArgumentException if a marker is wrong; the message names the page and the line */
    static MarkedPage read(Path root, Path path) throws IOException {
        List<String> lines = Files.readAllLines(root.resolve(path));
        List<Marker> markers = new ArrayList<>();
        boolean block = false;
        for (int i = 0; i < lines.size(); i++) {
            block ^= lines.get(i).startsWith(FENCE);
            if (!block && EITHER.matcher(lines.get(i)).matches()) {
                Marker marker = marker(path, lines, i);
                markers.add(marker);
                i += marker.content().size() + 1;
            }
        }
        return new MarkedPage(path, List.copyOf(lines), List.copyOf(markers));
    }

    private static Marker marker(Path path, List<String> lines, int first) {
        Matcher begin = BEGIN.matcher(lines.get(first));
        if (!begin.matches()) {
            throw new IllegalArgumentException(path + ":" + (first + 1) + ": '"
                    + lines.get(first).strip() + "' must be <!-- figure NAME TEMPLATE --> on a line of its own, with "
                    + END + " on a later one");
        }
        for (int i = first + 1; i < lines.size(); i++) {
            if (lines.get(i).equals(END)) {
                return new Marker(begin.group(1), begin.group(2), first + 1, List.copyOf(lines.subList(first + 1, i)));
            }
            if (EITHER.matcher(lines.get(i)).matches()) {
                break;
            }
        }
        throw new IllegalArgumentException(
                path + ":" + (first + 1) + ": this figure does not end; put " + END + " on a line after it");
    }

    /** The page's lines with other content in its places; a place without new content keeps its own. */
    List<String> filled(Map<Marker, List<String>> contents) {
        List<String> filled = new ArrayList<>();
        int next = 0;
        for (Marker marker : markers) {
            filled.addAll(lines.subList(next, marker.line()));
            filled.addAll(contents.getOrDefault(marker, marker.content()));
            next = marker.line() + marker.content().size();
        }
        filled.addAll(lines.subList(next, lines.size()));
        return filled;
    }
}
