package io.farheap.bench.figures;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The published figures, in the order in which they are measured: the array of {@code docs/figures/figures.json}. */
final class FigureList {

    /** From the root of the checkout. */
    static final Path FILE = Path.of("docs/figures/figures.json");

    private static final Pattern NAME = Pattern.compile("[a-z0-9]+(?:-[a-z0-9]+)*");
    private static final Set<String> FIELDS =
            Set.of("name", "command", "quick", "environment", "expected_s", "limit_s", "plots", "pages", "packages");

    private final Map<String, FigureSpec> figures;

    private FigureList(Map<String, FigureSpec> figures) {
        this.figures = figures;
    }

    /** @throws IllegalArgumentException with the entry that is wrong, and how */
    static FigureList read(Path root) throws IOException {
        Path file = root.resolve(FILE);
        if (!Files.exists(file)) {
            throw new IllegalArgumentException(
                    file + ": there is no such file; measure figures in a checkout of Farheap, by ./farheap figures");
        }
        if (!(FigureFields.parse(file, FILE.toString()) instanceof JsonArray array)) {
            throw new IllegalArgumentException(FILE + ": it must be an array of figures");
        }
        Map<String, FigureSpec> figures = new LinkedHashMap<>();
        Map<String, String> plots = new HashMap<>();
        for (JsonElement element : array) {
            if (!(element instanceof JsonObject object)) {
                throw new IllegalArgumentException(FILE + ": each figure must be an object");
            }
            FigureSpec figure = spec(object);
            if (figures.put(figure.name(), figure) != null) {
                throw new IllegalArgumentException(FILE + ": two figures have the name " + figure.name());
            }
            for (String plot : figure.plots()) {
                String other = plots.put(plot, figure.name());
                if (other != null) {
                    throw new IllegalArgumentException(FILE + ": figures " + other + " and " + figure.name()
                            + " both publish " + plot + ", and the later would replace the earlier");
                }
            }
        }
        return new FigureList(figures);
    }

    private static FigureSpec spec(JsonObject object) {
        String name = new FigureFields(FILE + ": a figure", object).text("name");
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    FILE + ": figure " + name + ": its name must have small letters, digits and single hyphens only");
        }
        FigureFields fields = new FigureFields(FILE + ": figure " + name, object);
        fields.requireOnly(FIELDS);
        List<String> packages = fields.texts("packages");
        if (packages.isEmpty()) {
            throw new IllegalArgumentException(FILE + ": figure " + name
                    + ": it has no packages; name those whose code it measures, so that it can be marked as old");
        }
        return new FigureSpec(
                name,
                words(fields.text("command")),
                words(fields.text("quick")),
                fields.textMap("environment"),
                fields.seconds("expected_s"),
                fields.seconds("limit_s"),
                fields.texts("plots"),
                fields.texts("pages"),
                packages);
    }

    private static List<String> words(String text) {
        return List.of(text.strip().split("\\s+"));
    }

    List<FigureSpec> all() {
        return List.copyOf(figures.values());
    }

    /** Returns null if there is no figure of this name. */
    @Nullable
    FigureSpec named(String name) {
        return figures.get(name);
    }

    /** All names, for messages. */
    String names() {
        return String.join(", ", figures.keySet());
    }
}
