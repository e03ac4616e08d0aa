package io.farheap.bench.figures;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import io.farheap.measure.SoftverbsModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Places of pages are filled with stored figures, and the check finds each page and each result that is wrong. */
class FigurePagesTest {

    /** More than 90 days after the made figure. */
    private static final LocalDate LATER = LocalDate.of(2027, 1, 31);

    @TempDir
    private Path directory;

    private MadeCheckout checkout;

    @BeforeEach
    void make() throws IOException {
        checkout = new MadeCheckout(directory);
        checkout.render(MadeCheckout.TODAY);
    }

    private void assertOneProblem(String part) throws IOException {
        assertOneProblem(part, checkout.problems());
    }

    private static void assertOneProblem(String part, List<String> problems) {
        assertEquals(1, problems.size(), problems::toString);
        assertTrue(problems.getFirst().contains(part), problems::toString);
    }

    @Test
    void placesAreFilledAndTheRestOfThePageStays() throws IOException {
        assertEquals("""
                # Made

                <!-- figure made reads -->
                | bytes | p50 [ns] | ratio |
                |---:|---:|---:|
                | 8 | 36.2 | 1.88 |
                | 4,096 | 1,064.4 | 1.36 |

                *2026-11-01, commit 0123456789, AMD EPYC, 2 cores.*
                <!-- /figure -->

                <!-- figure made claim -->
                A read of 8 bytes takes 36 ns, 1.88 times as long as the loop in C.
                <!-- /figure -->

                The end.
                """, checkout.page());
        assertEquals(List.of(), checkout.problems());
    }

    @Test
    void aPageThatIsRightIsNotWrittenAgain() throws IOException {
        List<Path> changed = new FigurePages(directory, checkout.list()).render(MadeCheckout.TODAY, _ -> {});
        assertEquals(List.of(), changed);
    }

    @Test
    void aWrongNumberIsFound() throws IOException {
        checkout.write(MadeCheckout.PAGE, checkout.page().replace("takes 36 ns", "takes 35 ns"));
        assertOneProblem(MadeCheckout.PAGE + ":12: it differs from what docs/figures/json/made.json");
        checkout.render(MadeCheckout.TODAY);
        assertEquals(List.of(), checkout.problems());
    }

    @Test
    void aTableWithoutItsDateIsFound() throws IOException {
        checkout.write(MadeCheckout.PAGE, checkout.page().replace("*2026-11-01, commit", "*commit"));
        assertOneProblem(MadeCheckout.PAGE + ":3: it differs");
    }

    @ParameterizedTest
    @CsvSource({
        "command, a text that is not empty",
        "date, a text that is not empty",
        "commit, a text that is not empty",
        "dirty, true or false",
        "machine, an object",
        "report, an object"
    })
    void aResultWithoutItsOriginIsFound(String field, String form) throws IOException {
        JsonObject stored = MadeCheckout.stored();
        stored.remove(field);
        checkout.store(stored);
        List<String> problems = checkout.problems();
        assertTrue(
                problems.contains("docs/figures/json/made.json: its field " + field + " must be " + form),
                problems::toString);
    }

    @ParameterizedTest
    @CsvSource({"date, yesterday", "commit, 0123456789"})
    void aDateAndACommitHaveTheirForms(String field, String wrong) throws IOException {
        JsonObject stored = MadeCheckout.stored();
        stored.addProperty(field, wrong);
        checkout.store(stored);
        List<String> problems = checkout.problems();
        assertTrue(
                problems.getFirst()
                        .startsWith("docs/figures/json/made.json: its " + field + " " + wrong + " must be a"),
                problems::toString);
    }

    @Test
    void aPlaceWithoutAResultIsFound() throws IOException {
        Files.delete(directory.resolve(FigureFile.place("made")));
        List<String> problems = checkout.problems();
        assertEquals(2, problems.size(), problems::toString);
        assertTrue(
                problems.getFirst().endsWith("made.json is not there; run ./farheap figures made, which measures it"),
                problems::toString);
    }

    /** A page may have its places before the first run, and nothing that looks like a figure is in them. */
    @Test
    void placesOfAFigureThatWasNeverMeasuredSaySo() throws IOException {
        Files.delete(directory.resolve(FigureFile.place("made")));
        checkout.write(MadeCheckout.PAGE, """
                # Made

                <!-- figure made reads -->
                <!-- /figure -->

                <!-- figure made claim -->
                <!-- /figure -->
                """);
        assertEquals(2, checkout.problems().size());
        checkout.render(MadeCheckout.TODAY);
        assertEquals(List.of(), checkout.problems());
        assertEquals("""
                # Made

                <!-- figure made reads -->
                *Not measured yet: `./farheap figures made` measures it.*
                <!-- /figure -->

                <!-- figure made claim -->
                *Not measured yet: `./farheap figures made` measures it.*
                <!-- /figure -->
                """, checkout.page());
        checkout.store(MadeCheckout.stored());
        assertEquals(2, checkout.problems().size());
        checkout.render(MadeCheckout.TODAY);
        assertTrue(checkout.page().contains("| 8 | 36.2 | 1.88 |"), checkout.page());
        assertEquals(List.of(), checkout.problems());
    }

    @Test
    void aResultOfNoFigureIsFound() throws IOException {
        checkout.write(
                FigureFile.place("gone").toString(), MadeCheckout.stored().toString());
        assertOneProblem("docs/figures/figures.json has no figure gone");
    }

    @Test
    void aPlotThatNoPageShowsIsFound() throws IOException {
        checkout.write("docs/figures/lost.png", "");
        assertOneProblem("docs/figures/lost.png: no page shows this plot");
    }

    @Test
    void aPlotOfAFigureIsShownInItsPlace() throws IOException {
        JsonObject stored = MadeCheckout.stored();
        JsonArray plots = new JsonArray();
        plots.add("made.png");
        stored.add("plots", plots);
        checkout.store(stored);
        checkout.write("docs/figures/made.png", "");
        checkout.write(MadeCheckout.PAGE, checkout.page().replace("The end.", "![reads](made.png)"));
        assertOneProblem("docs/figures/made.png: it is figure made's, and must be shown in a place of that figure");
        checkout.template("claim.text", "![reads](made.png)\n");
        checkout.render(MadeCheckout.TODAY);
        assertEquals(List.of(), checkout.problems());
        Files.delete(directory.resolve("docs/figures/made.png"));
        assertOneProblem("its plot docs/figures/made.png is not there");
    }

    @Test
    void aPlotInAPlaceIsTheFigures() throws IOException {
        checkout.write("docs/figures/other.png", "");
        checkout.template("claim.text", "![other](other.png)\n");
        checkout.render(MadeCheckout.TODAY);
        assertOneProblem("docs/figures/other.png: it is shown in a place of figure made, which has no such plot");
    }

    @Test
    void anInvalidRowWithARatioIsFound() throws IOException {
        JsonObject stored = MadeCheckout.stored();
        MadeCheckout.row(stored, 2).addProperty("invalid", true);
        checkout.store(stored);
        assertOneProblem("row 3 is invalid, and must not have a ratio, but has ratio_p50");
        MadeCheckout.row(stored, 2).addProperty("invalid", false);
        MadeCheckout.row(stored, 2).addProperty("late_pct", 1.01);
        checkout.store(stored);
        assertOneProblem("row 3 is invalid, and must not have a ratio, but has ratio_p50");
        MadeCheckout.row(stored, 2).addProperty("late_pct", 1.0);
        checkout.store(stored);
        assertEquals(List.of(), checkout.problems());
    }

    @Test
    void aModelsLateOperationsAreInTheCaption() throws IOException {
        JsonObject stored = MadeCheckout.stored();
        stored.getAsJsonObject("report").addProperty("model", "connectx5");
        stored.addProperty("late_pct", 0.25);
        checkout.store(stored);
        checkout.render(MadeCheckout.TODAY);
        String judged = "at most 0.25% of a row's operations other than READs late";
        // A caption's lines break between any two words.
        String page = checkout.page().replaceAll("\\s+", " ");
        assertTrue(page.contains("2 cores; model connectx5, " + judged + ".*"), page);
    }

    @Test
    void theCaptionSaysThatRowsOfReadsAloneWereNotJudged() throws IOException {
        JsonObject stored = MadeCheckout.stored();
        stored.getAsJsonObject("report").addProperty("model", "connectx5");
        MadeCheckout.row(stored, 0).add("late_pct", JsonNull.INSTANCE);
        assertCaption("; model connectx5, rows of READs alone not judged", stored);
        stored.addProperty("late_pct", 0.25);
        assertCaption(
                "; model connectx5, at most 0.25% of a row's operations other than READs late, "
                        + "rows of READs alone not judged",
                stored);
        stored.getAsJsonObject("report").addProperty("model", SoftverbsModel.NONE);
        assertCaption("", stored);
    }

    private void assertCaption(String end, JsonObject stored) throws IOException {
        checkout.store(stored);
        assertEquals(
                "2026-11-01, commit 0123456789, AMD EPYC, 2 cores" + end,
                FigureCaption.origin(FigureFile.read(directory, "made")));
    }

    @Test
    void noRatioOfAnInvalidRowIsPrinted() throws IOException {
        JsonObject stored = MadeCheckout.stored();
        MadeCheckout.row(stored, 0).addProperty("invalid", true);
        MadeCheckout.row(stored, 0).add("ratio_p50", JsonNull.INSTANCE);
        checkout.store(stored);
        List<String> complaints = new ArrayList<>();
        new FigurePages(directory, checkout.list()).render(MadeCheckout.TODAY, complaints::add);
        assertTrue(checkout.page().contains("| 8 | 36.2 | invalid |"), checkout.page());
        assertOneProblem("its row is invalid, and has no ratio; change the sentence", complaints);
    }

    @Test
    void aFigureOfMoreThanNinetyDaysAgoIsShownAsOld() throws IOException {
        String fresh = checkout.page();
        checkout.render(LATER.minusDays(1));
        assertEquals(fresh, checkout.page());
        checkout.render(LATER);
        String mark = "Old: more than 90 days ago.*";
        assertTrue(checkout.page().contains("2 cores. " + mark + "\n"), checkout.page());
        assertTrue(checkout.page().contains("\n*" + mark + " A read of 8 bytes takes 36 ns"), checkout.page());
        assertEquals(
                checkout.page(),
                String.join(
                                "\n",
                                new FigurePages(directory, checkout.list())
                                        .old()
                                        .get(Path.of(MadeCheckout.PAGE))) + "\n");
    }

    /** A mark inside would be of one item, or no part of the page. */
    @ParameterizedTest
    @ValueSource(strings = {"- one", "![reads](made.png)", "| ![reads](made.png) |", "```"})
    void theMarkOfATextThatIsNoParagraphIsAParagraphAboveIt(String first) throws IOException {
        checkout.template("claim.text", first + "\n");
        checkout.render(LATER);
        assertTrue(checkout.page().contains("\n*Old: more than 90 days ago.*\n\n" + first + "\n"), checkout.page());
    }

    /** A check that begins to fail one morning, in a checkout without a change, shows no fault. */
    @Test
    void theCalendarMakesNoPageWrong() throws IOException {
        assertEquals(List.of(), checkout.problems(), "rendered while it was new");
        checkout.render(LATER);
        assertEquals(List.of(), checkout.problems(), "rendered when it was old");
        checkout.write(MadeCheckout.PAGE, checkout.page().replace("more than 90 days", "more than 9 days"));
        assertEquals(2, checkout.problems().size(), "another mark");
    }

    @Test
    void aResultOfAnotherCommandThanTheListsIsFound() throws IOException {
        JsonObject stored = MadeCheckout.stored();
        stored.addProperty("command", "./farheap bench made --turns 3");
        checkout.store(stored);
        assertOneProblem("docs/figures/json/made.json: it was measured by './farheap bench made --turns 3', and "
                + "docs/figures/figures.json has 'SOFTVERBS=model=made ./farheap bench made --turns 3'; run "
                + "./farheap figures made, which measures it again");
    }

    @Test
    void aFigureThatIsOlderThanItsCodeIsShownAsOld() throws IOException {
        FigureFile stored = FigureFile.read(directory, "made");
        GitTree.Commit commit = new GitTree.Commit("fedcba9876543210fedcba9876543210fedcba98", "2026-11-20");
        assertTrue(stored.markOutdated(commit));
        assertFalse(stored.markOutdated(commit));
        stored.write(directory.resolve(FigureFile.DIRECTORY));
        assertEquals(2, checkout.problems().size());
        checkout.render(MadeCheckout.TODAY);
        assertEquals(List.of(), checkout.problems());
        assertTrue(checkout.page().contains("2 cores. Old: the code has changed.*\n"), checkout.page());
        assertTrue(checkout.page().contains("\n*Old: the code has changed.* A read of 8 bytes"), checkout.page());
    }

    @Test
    void aFigureWhoseLaterRunFailedSaysSo() throws IOException {
        FigureFile stored = FigureFile.read(directory, "made");
        stored.markFailed(Instant.parse("2026-11-28T23:59:59Z"), "it ended with status 1");
        stored.write(directory.resolve(FigureFile.DIRECTORY));
        checkout.render(MadeCheckout.TODAY);
        assertEquals(List.of(), checkout.problems());
        assertTrue(
                checkout.page().contains("*A run on 2026-11-28 failed, so this is the figure of 2026-11-01.*"),
                checkout.page());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "<!-- figure other reads -->; there is no figure other in docs/figures/figures.json",
                "<!-- figure made other -->; docs/figures/templates/made/other.table: there is no such template",
                "<!-- figure made -->; must be <!-- figure NAME TEMPLATE --> on a line of its own",
                "<!-- /figure -->; must be <!-- figure NAME TEMPLATE --> on a line of its own",
                "<!-- figure made claim --> now; must be <!-- figure NAME TEMPLATE --> on a line of its own",
            })
    void aWrongMarkerIsFound(String marker, String problem) throws IOException {
        checkout.write(MadeCheckout.PAGE, checkout.page().replace("<!-- figure made claim -->", marker));
        assertOneProblem(problem);
    }

    @Test
    void aPlaceThatDoesNotEndIsFound() throws IOException {
        String page = checkout.page();
        checkout.write(MadeCheckout.PAGE, page.substring(0, page.lastIndexOf("<!-- /figure -->")));
        assertOneProblem(MadeCheckout.PAGE + ":12: this figure does not end");
    }

    @Test
    void aMarkerBetweenFencesIsText() throws IOException {
        checkout.write("docs/how.page.md", "```\n<!-- figure NAME TEMPLATE -->\n```\n");
        assertEquals(List.of(), checkout.problems());
    }

    @Test
    void aPageMustBeInTheList() throws IOException {
        checkout.write("README.md", "<!-- figure made claim -->\n<!-- /figure -->\n");
        assertOneProblem("README.md:1: this page is not among the pages of figure made in docs/figures/figures.json");
    }
}
