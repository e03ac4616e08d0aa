package io.farheap.bench.figures;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Marks stored figures if a commit after theirs changed the code that they measure. The mark is stored with the figure:
 * a test that compares pages with figures needs no commits.
 */
final class OutdatedFigures {

    private OutdatedFigures() {}

    /** @return how many figures got a mark, or one with a later commit */
    static int mark(Path root, FigureList figures) throws IOException, InterruptedException {
        GitTree git = new GitTree(root);
        int marked = 0;
        for (FigureSpec figure : figures.all()) {
            try {
                FigureFile stored = FigureFile.read(root, figure.name());
                GitTree.Commit later = stored == null ? null : git.changed(stored.commit(), figure.packages());
                if (stored != null && later != null && stored.markOutdated(later)) {
                    stored.write(root.resolve(FigureFile.DIRECTORY));
                    marked++;
                }
            } catch (IllegalArgumentException e) {
                // The places of this figure cannot be rendered, and say why.
            }
        }
        return marked;
    }
}
