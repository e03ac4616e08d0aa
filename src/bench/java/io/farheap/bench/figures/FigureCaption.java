package io.farheap.bench.figures;

import io.farheap.measure.SoftverbsModel;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What a page says about a figure beside its numbers: where they come from, and whether they are still true. */
final class FigureCaption {

    private static final int MOST_DAYS = 90;
    private static final int SHORT_HASH = 10;

    private FigureCaption() {}

    /** As {@code 2026-11-29, commit 0123456789, AMD EPYC, 2 cores}, with the late operations of a model. */
    static String origin(FigureFile figure) {
        String origin = figure.date() + ", commit " + commit(figure) + ", " + figure.machine();
        String model = RowFilter.text(figure.reported("model"));
        return model.equals(RowFilter.NONE) || model.equals(SoftverbsModel.NONE)
                ? origin
                : origin + lateness(figure, model);
    }

    /** What the report says about late operations; empty if it says nothing. */
    private static String lateness(FigureFile figure, String model) {
        List<String> parts = new ArrayList<>();
        double late = figure.latePercent();
        if (!Double.isNaN(late)) {
            parts.add(String.format(Locale.ROOT, "at most %.2f%% of a row's operations other than READs late", late));
        }
        if (figure.rows().stream().anyMatch(InvalidRows::notJudged)) {
            parts.add("rows of READs alone not judged");
        }
        return parts.isEmpty() ? "" : "; model " + model + ", " + String.join(", ", parts);
    }

    /** The commit's first digits, and whether sources differed from it. */
    static String commit(FigureFile figure) {
        return shorten(figure.commit()) + (figure.dirty() ? " with changes" : "");
    }

    /**
     * Returns the sentences that warn a reader: a later run failed, the figure is older than 90 days, or a later commit
     * changed the code that it measures. None for most figures. They are short, since a page may have many old figures;
     * {@code ./farheap figures --list} names the commit.
     */
    static List<String> marks(FigureFile figure, LocalDate today) {
        List<String> marks = new ArrayList<>();
        String failedOn = figure.failedOn();
        if (failedOn != null) {
            marks.add("A run on " + failedOn + " failed, so this is the figure of " + figure.date() + ".");
        }
        if (!today.isBefore(oldFrom(figure))) {
            marks.add("Old: more than " + MOST_DAYS + " days ago.");
        } else if (figure.outdatedBy() != null) {
            marks.add("Old: the code has changed.");
        }
        return marks;
    }

    /** The first date on which the figure is old by its age. */
    static LocalDate oldFrom(FigureFile figure) {
        return figure.date().plusDays(MOST_DAYS + 1);
    }

    /** The first digits of a commit's hash. */
    static String shorten(String hash) {
        return hash.substring(0, Math.min(SHORT_HASH, hash.length()));
    }
}
