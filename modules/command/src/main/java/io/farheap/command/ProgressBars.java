package io.farheap.command;

import io.farheap.posix.Terminal;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/**
 * Progress bars on standard error. The library's own way to the terminal extracts native code into the temporary
 * directory, to ask for the terminal's width, and leaves it there where the process is killed.
 */
public final class ProgressBars {

    private static final int STANDARD_ERROR = 2;
    private static final int USUAL_COLUMNS = 80;
    private static final int FEWEST_COLUMNS = 40;
    /** Where a cursor is after the last column differs among terminals. */
    private static final int MARGIN = 2;

    private ProgressBars() {}

    /** @param most of what is to be done */
    public static ProgressBarBuilder bar(String task, long most) {
        int columns = Terminal.columns(STANDARD_ERROR);
        int width = columns == 0 ? USUAL_COLUMNS : Math.max(FEWEST_COLUMNS, columns);
        return new ProgressBarBuilder()
                .setTaskName(task)
                .setInitialMax(most)
                .setStyle(ProgressBarStyle.ASCII)
                .setConsumer(new ConsoleProgressBarConsumer(System.err, width - MARGIN));
    }
}
