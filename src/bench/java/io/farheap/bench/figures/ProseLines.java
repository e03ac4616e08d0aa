package io.farheap.bench.figures;

import java.util.ArrayList;
import java.util.List;

/** Breaks paragraphs and items of lists at the width of pages; tables, plots and blocks between fences stay. */
final class ProseLines {

    private static final int COLUMNS = 120;
    private static final String FENCE = "```";
    private static final String ITEM = "- ";

    private ProseLines() {}

    static List<String> wrap(List<String> lines) {
        List<String> wrapped = new ArrayList<>();
        List<String> words = new ArrayList<>();
        boolean block = false;
        for (String line : lines) {
            boolean stays = block || stays(line);
            block ^= line.startsWith(FENCE);
            if (stays || line.startsWith(ITEM)) {
                end(words, wrapped);
            }
            if (stays) {
                wrapped.add(line);
            } else {
                words.addAll(List.of(line.strip().split("\\s+")));
            }
        }
        end(words, wrapped);
        return wrapped;
    }

    /** Whether a line, as the first one of a text, begins a paragraph. */
    static boolean begins(String line) {
        return !stays(line) && !line.startsWith(ITEM);
    }

    private static boolean stays(String line) {
        return line.startsWith(FENCE) || line.isBlank() || line.startsWith("|") || line.startsWith("![");
    }

    /** Adds the lines of the words, if there are any, and clears them. */
    private static void end(List<String> words, List<String> wrapped) {
        String indentation = !words.isEmpty() && words.getFirst().equals(ITEM.strip()) ? "  " : "";
        StringBuilder line = new StringBuilder();
        for (String word : words) {
            if (!line.isEmpty() && line.length() + 1 + word.length() > COLUMNS) {
                wrapped.add(line.toString());
                line = new StringBuilder(indentation).append(word);
            } else {
                line.append(line.isEmpty() ? "" : " ").append(word);
            }
        }
        if (!line.isEmpty()) {
            wrapped.add(line.toString());
        }
        words.clear();
    }
}
