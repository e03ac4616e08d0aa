package io.farheap.bench.figures;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

/** The pages of a checkout, which have the stored figures in their places. */
final class FigurePages {

    private static final List<String> TOP = List.of("README.md", "CONTRIBUTING.md", "SECURITY.md");
    private static final Path DOCS = Path.of("docs");

    private final Path root;
    private final FigureList figures;

    /** @param root of the checkout */
    FigurePages(Path root, FigureList figures) {
        this.root = root;
        this.figures = figures;
    }

    /**
     * Writes the stored figures into the pages. A place that cannot be rendered keeps its content; an empty place of a
     * figure that was never measured says so.
     *
     * @param today the UTC date, by which a figure may be old
     * @param complaints receives a sentence for each place that cannot be rendered
     * @return the pages that have changed
     */
    List<Path> render(LocalDate today, Consumer<String> complaints) throws IOException {
        List<Path> changed = new ArrayList<>();
        for (Path path : paths()) {
            try {
                MarkedPage page = MarkedPage.read(root, path);
                List<String> filled = page.filled(contents(page, _ -> today, complaints));
                if (!filled.equals(page.lines())) {
                    Files.writeString(root.resolve(path), String.join("\n", filled) + "\n");
                    changed.add(path);
                }
            } catch (IllegalArgumentException e) {
                complaints.accept(String.valueOf(e.getMessage()));
            }
        }
        return changed;
    }

    /**
     * Returns what is wrong with pages and stored figures, a sentence each. The calendar makes no page wrong: a place
     * may have its figure as it was rendered while it was new, and as it is rendered when it is old. A place of a
     * figure that was never measured says so.
     */
    List<String> problems() throws IOException {
        List<String> problems = new ArrayList<>(storedProblems());
        PlotCheck plots = new PlotCheck(root);
        for (Path path : paths()) {
            try {
                MarkedPage page = MarkedPage.read(root, path);
                Map<MarkedPage.Marker, List<String>> fresh = contents(page, FigureFile::date, problems::add);
                Map<MarkedPage.Marker, List<String>> old = contents(page, FigureCaption::oldFrom, _ -> {});
                for (MarkedPage.Marker marker : page.markers()) {
                    if (fresh.containsKey(marker)
                            && !marker.content().equals(fresh.get(marker))
                            && !marker.content().equals(old.get(marker))) {
                        problems.add(place(page, marker) + ": it differs from what " + FigureFile.place(marker.figure())
                                + " and its template render; run ./farheap figures --render");
                    }
                }
                plots.add(page);
            } catch (IllegalArgumentException e) {
                problems.add(String.valueOf(e.getMessage()));
            }
        }
        problems.addAll(plots.problems(figures));
        return problems;
    }

    /**
     * The lines of each page with places as they are when all of its figures are older than 90 days: the most marks
     * that a page has, and the longest ones.
     *
     * @return by the page's path from the root of the checkout; a place that cannot be rendered keeps its content
     */
    Map<Path, List<String>> old() throws IOException {
        Map<Path, List<String>> pages = new HashMap<>();
        for (Path path : paths()) {
            MarkedPage page = MarkedPage.read(root, path);
            if (!page.markers().isEmpty()) {
                pages.put(path, page.filled(contents(page, FigureCaption::oldFrom, _ -> {})));
            }
        }
        return pages;
    }

    /** The pages, from the root of the checkout. */
    private List<Path> paths() throws IOException {
        List<Path> paths = new ArrayList<>();
        for (String page : TOP) {
            if (Files.exists(root.resolve(page))) {
                paths.add(Path.of(page));
            }
        }
        try (Stream<Path> files = Files.walk(root.resolve(DOCS))) {
            files.filter(file -> file.toString().endsWith(".md"))
                    .map(root::relativize)
                    .sorted()
                    .forEach(paths::add);
        }
        return paths;
    }

    /**
     * The content of each place that can be rendered.
     *
     * @param today for each figure the date by which it may be old
     */
    private Map<MarkedPage.Marker, List<String>> contents(
            MarkedPage page, Function<FigureFile, LocalDate> today, Consumer<String> complaints) throws IOException {
        Map<MarkedPage.Marker, List<String>> contents = new HashMap<>();
        for (MarkedPage.Marker marker : page.markers()) {
            try {
                contents.put(marker, content(page, marker, today));
            } catch (IllegalArgumentException e) {
                complaints.accept(place(page, marker) + ": " + e.getMessage());
            }
        }
        return contents;
    }

    private List<String> content(MarkedPage page, MarkedPage.Marker marker, Function<FigureFile, LocalDate> today)
            throws IOException {
        FigureSpec figure = figures.named(marker.figure());
        if (figure == null) {
            throw new IllegalArgumentException("there is no figure " + marker.figure() + " in " + FigureList.FILE
                    + "; there are " + figures.names());
        }
        if (!figure.pages().contains(page.path().toString())) {
            throw new IllegalArgumentException("this page is not among the pages of figure " + figure.name() + " in "
                    + FigureList.FILE + "; add it");
        }
        FigureTemplate template = FigureTemplate.read(root, figure.name(), marker.template());
        FigureFile stored = FigureFile.read(root, figure.name());
        if (stored == null) {
            List<String> unmeasured = unmeasured(figure.name());
            // A place that has figures keeps them: their result was lost.
            if (marker.content().isEmpty() || marker.content().equals(unmeasured)) {
                return unmeasured;
            }
            throw new IllegalArgumentException(FigureFile.place(figure.name()) + " is not there; run ./farheap figures "
                    + figure.name() + ", which measures it");
        }
        try {
            return template.render(stored, today.apply(stored));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "template " + marker.template() + " of figure " + figure.name() + ": " + e.getMessage(), e);
        }
    }

    /** Returns the content of the places of a figure that was never measured. */
    private static List<String> unmeasured(String figure) {
        return List.of("*Not measured yet: `./farheap figures " + figure + "` measures it.*");
    }

    private List<String> storedProblems() throws IOException {
        List<String> problems = new ArrayList<>();
        Path directory = root.resolve(FigureFile.DIRECTORY);
        if (!Files.isDirectory(directory)) {
            return problems;
        }
        List<Path> files;
        try (Stream<Path> each = Files.list(directory)) {
            files = each.sorted().toList();
        }
        for (Path file : files) {
            String name = file.getFileName().toString().replaceAll("\\.json$", "");
            FigureSpec figure = figures.named(name);
            if (figure == null) {
                problems.add(root.relativize(file) + ": " + FigureList.FILE + " has no figure " + name
                        + "; delete the file, or add the figure");
                continue;
            }
            try {
                FigureFile stored = FigureFile.read(root, name);
                if (stored != null) {
                    problems.addAll(stored.problems(figure.typed(false)));
                }
            } catch (IllegalArgumentException e) {
                problems.add(String.valueOf(e.getMessage()));
            }
        }
        return problems;
    }

    private static String place(MarkedPage page, MarkedPage.Marker marker) {
        return page.path() + ":" + marker.line();
    }
}
