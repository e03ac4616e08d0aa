package io.farheap.bench.figures;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Compares the plots of a checkout with the pages that show them. */
final class PlotCheck {

    /** From the root of the checkout. */
    static final Path DIRECTORY = Path.of("docs/figures");

    private static final Pattern PLOT = Pattern.compile("\\]\\(([^()\\s]+\\.png)\\)");

    private final Path root;
    private final Set<Path> shown = new HashSet<>();
    /** The plots that are shown in a figure's places, with the names of those figures. */
    private final Map<Path, Set<String>> placed = new HashMap<>();

    PlotCheck(Path root) {
        this.root = root;
    }

    /** Adds the plots that a page shows. */
    void add(MarkedPage page) {
        shown.addAll(plots(page.path(), page.lines()));
        for (MarkedPage.Marker marker : page.markers()) {
            for (Path plot : plots(page.path(), marker.content())) {
                placed.computeIfAbsent(plot, _ -> new HashSet<>()).add(marker.figure());
            }
        }
    }

    private static List<Path> plots(Path page, List<String> lines) {
        Path directory = page.resolveSibling("");
        return lines.stream()
                .flatMap(line -> PLOT.matcher(line).results())
                .map(plot -> directory.resolve(plot.group(1)).normalize())
                .toList();
    }

    /** Returns what is wrong, a sentence each, when all pages have been added. */
    List<String> problems(FigureList figures) throws IOException {
        List<String> problems = new ArrayList<>();
        Map<Path, String> stored = stored(figures, problems);
        for (Path plot : files()) {
            String owner = stored.get(plot);
            if (!shown.contains(plot)) {
                problems.add(plot + ": no page shows this plot; show it, or delete it");
            } else if (owner != null && !placed.getOrDefault(plot, Set.of()).contains(owner)) {
                problems.add(plot + ": it is figure " + owner + "'s, and must be shown in a place of that figure");
            }
        }
        placed.forEach((plot, in) -> {
            if (!in.contains(stored.getOrDefault(plot, ""))) {
                problems.add(plot + ": it is shown in a place of figure " + String.join(", ", in)
                        + ", which has no such plot");
            }
        });
        return problems;
    }

    /** The plots of all stored figures, with the names of the figures; each must be a file. */
    private Map<Path, String> stored(FigureList figures, List<String> problems) throws IOException {
        Map<Path, String> stored = new HashMap<>();
        for (FigureSpec figure : figures.all()) {
            try {
                FigureFile file = FigureFile.read(root, figure.name());
                for (String plot : file == null ? List.<String>of() : file.plots()) {
                    Path path = DIRECTORY.resolve(plot);
                    stored.put(path, figure.name());
                    if (!Files.exists(root.resolve(path))) {
                        problems.add(FigureFile.place(figure.name()) + ": its plot " + path + " is not there");
                    }
                }
            } catch (IllegalArgumentException e) {
                // The check of the stored figures reports it.
            }
        }
        return stored;
    }

    /** All plots of the checkout, from its root. */
    private List<Path> files() throws IOException {
        Path directory = root.resolve(DIRECTORY);
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(".png"))
                    .map(root::relativize)
                    .sorted()
                    .toList();
        }
    }
}
