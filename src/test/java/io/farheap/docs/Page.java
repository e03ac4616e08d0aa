package io.farheap.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A page of the documentation: README.md, CONTRIBUTING.md, SECURITY.md, or one below docs.
 *
 * @param path from the root of the repository
 */
public record Page(Path path, List<String> lines) {

    public static final int MOST_LINES = 300;
    /** What README.md has at most. */
    public static final long MOST_README_BYTES = 12 * 1024;
    /** The contents of docs. */
    public static final Path CONTENTS = Path.of("docs/README.md");

    private static final Path DOCS = Path.of("docs");
    private static final String FENCE = "```";
    private static final Pattern SPAN = Pattern.compile("(`+)(.+?)(?<!`)\\1(?!`)");

    /** A line with its number, which begins at 1. */
    public record Line(Path page, int number, String text) {

        @Override
        public String toString() {
            return page + ":" + number + ": " + text;
        }
    }

    /**
     * The lines between two fences.
     *
     * @param language after the first fence; empty if it names none
     * @param first the number of its first line
     */
    public record Block(Path page, String language, int first, List<String> lines) {

        /** All lines as one text. */
        public String text() {
            return String.join("\n", lines) + "\n";
        }

        @Override
        public String toString() {
            return page + ":" + first;
        }
    }

    /** All pages. */
    public static List<Page> all() throws IOException {
        List<Page> pages = new ArrayList<>();
        for (String name : List.of("README.md", "CONTRIBUTING.md", "SECURITY.md")) {
            pages.add(read(Path.of(name)));
        }
        pages.addAll(belowDocs());
        return pages;
    }

    /** The pages below docs, the contents among them. */
    public static List<Page> belowDocs() throws IOException {
        try (Stream<Path> files = Files.walk(DOCS)) {
            return files.filter(file -> file.toString().endsWith(".md"))
                    .sorted()
                    .map(Page::read)
                    .toList();
        }
    }

    /** The page of this path. */
    public static Page read(Path path) {
        try {
            return new Page(path, Files.readAllLines(path));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** All blocks between fences. */
    public List<Block> blocks() {
        List<Block> blocks = new ArrayList<>();
        int fence = -1;
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).startsWith(FENCE)) {
                if (fence < 0) {
                    fence = i;
                } else {
                    String language = lines.get(fence).substring(FENCE.length()).strip();
                    blocks.add(new Block(path, language, fence + 2, List.copyOf(lines.subList(fence + 1, i))));
                    fence = -1;
                }
            }
        }
        if (fence >= 0) {
            throw new IllegalStateException(path + ":" + (fence + 1) + ": no second fence");
        }
        return blocks;
    }

    /** All lines outside of blocks. */
    public List<Line> prose() {
        List<Line> prose = new ArrayList<>();
        boolean inside = false;
        for (int i = 0; i < lines.size(); i++) {
            boolean fence = lines.get(i).startsWith(FENCE);
            if (!fence && !inside) {
                prose.add(new Line(path, i + 1, lines.get(i)));
            }
            inside ^= fence;
        }
        return prose;
    }

    /** The text between backticks in the prose; a span over two lines is left out. */
    public List<Line> spans() {
        return prose().stream()
                .flatMap(line -> SPAN.matcher(line.text())
                        .results()
                        .map(span -> new Line(path, line.number(), span.group(2).strip())))
                .toList();
    }

    /** A line without the text between backticks. */
    static String withoutSpans(String line) {
        return SPAN.matcher(line).replaceAll("");
    }
}
