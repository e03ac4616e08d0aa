package io.farheap.bench.figures;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.List;

/** Renders a stored figure as lines of a page. */
sealed interface FigureTemplate permits TableTemplate, TextTemplate {

    /** From the root of the checkout; each figure has a directory of its name there. */
    Path DIRECTORY = Path.of("docs/figures/templates");

    /**
     * Renders it.
     *
     * @param today by which a figure may be old
     * @throws IllegalArgumentException if the figure lacks what the template prints
     */
    List<String> render(FigureFile figure, LocalDate today);

    /**
     * Reads a template of a figure.
     *
     * @param name of the file, without {@code .table} or {@code .text}
     * @throws IllegalArgumentException if there is no such template, or if it is wrong; the message names the file
     */
    static FigureTemplate read(Path root, String figure, String name) throws IOException {
        Path table = DIRECTORY.resolve(figure).resolve(name + ".table");
        Path text = DIRECTORY.resolve(figure).resolve(name + ".text");
        boolean isTable = Files.exists(root.resolve(table));
        if (isTable == Files.exists(root.resolve(text))) {
            throw new IllegalArgumentException(
                    isTable
                            ? table + " and " + text + ": a template must be a table or a text, not both"
                            : table + ": there is no such template, and no " + text.getFileName() + " beside it");
        }
        Path file = isTable ? table : text;
        List<String> lines = Files.readAllLines(root.resolve(file));
        try {
            return isTable ? TableTemplate.parse(lines) : new TextTemplate(lines);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
        }
    }
}
