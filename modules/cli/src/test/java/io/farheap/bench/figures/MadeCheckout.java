package io.farheap.bench.figures;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.List;

/** A checkout with one figure, which was measured, and with one page, which has places for it. */
final class MadeCheckout {

    static final LocalDate TODAY = LocalDate.of(2026, 11, 29);
    static final String PAGE = "docs/figures/made.page.md";

    private static final String LIST = """
        [{
          "name": "made",
          "command": "bench made --turns 3",
          "quick": "bench made --turns 1",
          "environment": {"SOFTVERBS": "model=made"},
          "expected_s": 120,
          "limit_s": 300,
          "plots": ["made.png"],
          "pages": ["docs/figures/made.page.md"],
          "packages": ["io.farheap.made"]
        }]
        """;

    private static final String STORED = """
        {
          "name": "made",
          "command": "SOFTVERBS=model=made ./farheap bench made --turns 3",
          "date": "2026-11-01T10:00:00Z",
          "commit": "0123456789abcdef0123456789abcdef01234567",
          "dirty": false,
          "machine": {"processor": "AMD EPYC", "cores": 2, "kernel": "6.1", "jdk": "OpenJDK 25"},
          "late_pct": null,
          "seconds": 3,
          "plots": [],
          "report": {
            "device": "soft0 (soft)",
            "rows": [
              {"op": "read", "size": 8, "p50_ns": 36.2, "ratio_p50": 1.876},
              {"op": "read", "size": 4096, "p50_ns": 1064.4, "ratio_p50": 1.361},
              {"op": "write", "size": 8, "p50_ns": 40.0, "ratio_p50": 1.95}
            ]
          }
        }
        """;

    private final Path root;

    MadeCheckout(Path root) throws IOException {
        this.root = root;
        write(FigureList.FILE.toString(), LIST);
        template("reads.table", """
            # writes are left out
            rows op=read
            column bytes | size %,d
            column p50 [ns] | p50_ns %,.1f
            column ratio | ratio_p50 %.2f
            """);
        template("claim.text", """
            A read of 8 bytes takes {p50_ns op=read size=8 %.0f} ns, {ratio_p50 op=read size=8 %.2f} times as long as
            the loop in C.
            """);
        write(PAGE, """
            # Made

            <!-- figure made reads -->
            <!-- /figure -->

            <!-- figure made claim -->
            <!-- /figure -->

            The end.
            """);
        store(stored());
    }

    /** The result of the figure, to be changed and stored. */
    static JsonObject stored() {
        return JsonParser.parseString(STORED).getAsJsonObject();
    }

    /** A row of a result. */
    static JsonObject row(JsonObject stored, int index) {
        return stored.getAsJsonObject("report")
                .getAsJsonArray("rows")
                .get(index)
                .getAsJsonObject();
    }

    void store(JsonObject stored) throws IOException {
        write(FigureFile.place("made").toString(), stored.toString());
    }

    void template(String file, String text) throws IOException {
        write(FigureTemplate.DIRECTORY + "/made/" + file, text);
    }

    void write(String path, String text) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    Path root() {
        return root;
    }

    String page() throws IOException {
        return Files.readString(root.resolve(PAGE));
    }

    FigureList list() throws IOException {
        return FigureList.read(root);
    }

    /** Renders all places; fails if one cannot be rendered. */
    void render(LocalDate today) throws IOException {
        new FigurePages(root, list()).render(today, complaint -> {
            throw new AssertionError(complaint);
        });
    }

    List<String> problems() throws IOException {
        return new FigurePages(root, list()).problems();
    }
}
