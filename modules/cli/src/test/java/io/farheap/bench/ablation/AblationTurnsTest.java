package io.farheap.bench.ablation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.Quartiles;
import io.farheap.bench.report.Rotation;
import io.farheap.bench.report.TurnWarmUp;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** Steps that take turns, by a clock that each turn advances and with figures that the test gives. */
class AblationTurnsTest {

    private static final int DEPTH = 4;
    private static final int TURNS = 8;
    /** Of a turn. */
    private static final long OPERATIONS = 1_000;
    /** Until each side has three turns that may agree. */
    private static final int WARM_UPS = 3;

    private final List<AblationStep> steps = AblationStep.all(DEPTH);
    private final List<AblationStep> order = new ArrayList<>();
    private final Map<AblationStep, Integer> taken = new HashMap<>();
    private long now;

    /** Figures of a turn, by the step's number and the number of its turn; the first ones are of the warm-up. */
    private interface Figures {
        AblationTurns.Turn of(int step, int turn);
    }

    private List<AblationRow> take(Figures figures) throws InterruptedException {
        AblationTurns contest = new AblationTurns(
                step -> {
                    now++;
                    order.add(step);
                    return figures.of(steps.indexOf(step), taken.merge(step, 1, Integer::sum) - 1);
                },
                5,
                16,
                2);
        long most = (long) WARM_UPS * steps.size();
        return contest.take("write", steps, new TurnWarmUp(steps.size(), 0, most, () -> now), TURNS);
    }

    private static AblationTurns.Turn turn(double rate, List<ModelLateness.Counts> late) {
        return new AblationTurns.Turn(1e9 / rate, 2e9 / rate, rate, late);
    }

    /** Late ones of {@value #OPERATIONS} operations. */
    private static List<ModelLateness.Counts> late(long late) {
        return List.of(new ModelLateness.Counts(true, OPERATIONS, late));
    }

    private static JsonObject json(List<AblationRow> rows, int index) {
        BenchReport report = new BenchReport("soft0 (soft)", "connectx5", 2, "./farheap bench ablation");
        rows.get(index).put(report.row(), 16, 1024, TURNS, index == 0 ? null : rows.get(index - 1));
        return JsonParser.parseString(report.json())
                .getAsJsonObject()
                .getAsJsonArray("rows")
                .get(0)
                .getAsJsonObject();
    }

    @Test
    void theOrderOfTheStepsRotates() throws InterruptedException {
        take((step, turn) -> turn(1e6, List.of()));
        assertEquals((WARM_UPS + TURNS) * steps.size(), order.size());
        Rotation rotation = new Rotation(steps.size());
        List<AblationStep> counted = order.subList(WARM_UPS * steps.size(), order.size());
        for (int turn = 0; turn < TURNS; turn++) {
            assertEquals(
                    IntStream.of(rotation.order(turn)).mapToObj(steps::get).toList(),
                    counted.subList(turn * steps.size(), (turn + 1) * steps.size()));
        }
    }

    @Test
    void theUsualNumberOfTurnsIsOfWholeRounds() {
        String usual = new CommandLine(new BenchAblationCommand())
                .getCommandSpec()
                .findOption("--turns")
                .defaultValue();
        assertEquals(0, Integer.parseInt(usual) % new Rotation(steps.size()).round(), usual);
    }

    @Test
    void aRowHasTheMediansAndTheQuartilesOfTheTurnsThatCount() throws InterruptedException {
        List<AblationRow> rows = take((step, turn) -> turn(turn < WARM_UPS ? 7 : turn - WARM_UPS + 1, List.of()));
        assertEquals(new Quartiles(2.75, 4.5, 6.25), rows.getFirst().rate());
        JsonObject row = json(rows, 1);
        assertEquals(4.5, row.get("ops_per_s").getAsDouble());
        assertEquals(2.75, row.get("ops_per_s_p25").getAsDouble());
        assertEquals(6.25, row.get("ops_per_s_p75").getAsDouble());
        assertEquals(1, row.get("over_above").getAsDouble());
        assertEquals(TURNS, row.get("turns").getAsInt());
        assertTrue(row.get("settled").getAsBoolean());
        assertTrue(json(rows, 0).get("over_above").isJsonNull(), "no step is above the first");
    }

    @Test
    void aRowSaysWhetherItsOwnStepHadSettled() throws InterruptedException {
        List<AblationRow> rows = take((step, turn) -> turn(step == 2 ? 1e6 + 1e5 * turn : 1e6, List.of()));
        for (int step = 0; step < steps.size(); step++) {
            assertEquals(step != 2, json(rows, step).get("settled").getAsBoolean());
        }
    }

    @Test
    void anInvalidRowHasNoRatioAndNeitherHasTheRowBelow() throws InterruptedException {
        int spoilt = WARM_UPS + 1;
        List<AblationRow> rows = take((step, turn) -> turn(1e6, late(step == 3 && turn == spoilt ? 120 : 0)));
        assertEquals(1.5, json(rows, 3).get("late_pct").getAsDouble());
        for (int step = 1; step < steps.size(); step++) {
            JsonObject row = json(rows, step);
            assertEquals(step == 3, row.get("invalid").getAsBoolean());
            assertEquals(step == 3 || step == 4, row.get("over_above").isJsonNull(), row::toString);
        }
    }

    @Test
    void lateOperationsOfOneTurnAreAPartOfThoseOfAllTurns() throws InterruptedException {
        int spoilt = WARM_UPS + 1;
        List<AblationRow> rows = take((step, turn) -> turn(1e6, late(turn == spoilt ? 60 : 0)));
        assertEquals(0.75, json(rows, 0).get("late_pct").getAsDouble());
        assertFalse(json(rows, 0).get("invalid").getAsBoolean());
    }

    @Test
    void lateOperationsOfTheWarmUpDoNotCount() throws InterruptedException {
        List<AblationRow> rows = take((step, turn) -> turn(1e6, late(turn < WARM_UPS ? 500 : 0)));
        assertFalse(json(rows, 0).get("invalid").getAsBoolean());
    }

    @Test
    void readsThatNoServerThreadAnswersAreNotJudged() throws InterruptedException {
        List<AblationRow> rows = take((step, turn) -> turn(1e6, List.of(new ModelLateness.Counts(true, 0, 0))));
        assertTrue(json(rows, 2).get("late_pct").isJsonNull());
        assertFalse(json(rows, 2).get("invalid").getAsBoolean());
    }

    @Test
    void aRowHasTheMeansOfItsStep() throws InterruptedException {
        List<AblationRow> rows = take((step, turn) -> turn(1e6, List.of()));
        JsonObject first = json(rows, 0);
        assertEquals(80, first.get("bytes_local").getAsInt());
        assertEquals(5, first.get("in_flight").getAsInt());
        assertEquals(1, first.get("group").getAsInt());
        assertEquals(2, first.get("cores").getAsInt(), "three threads on two cores");
        assertEquals(1, json(rows, steps.size() - 1).get("cores").getAsInt(), "no hand-over, no server's thread");
    }
}
