package io.farheap.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A page is read in one go, in a window of usual width. */
@Needs(Need.HOST)
class PageSizeTest {

    private static final int MOST_COLUMNS = 120;
    /** A table of old and new names, for look-ups; it may be longer than other pages. */
    private static final Path NAMES = Path.of("docs/contribute/names.md");

    @Test
    void aPageHasFewLines() throws IOException {
        List<String> longer = Page.all().stream()
                .filter(page ->
                        page.lines().size() > Page.MOST_LINES && !page.path().equals(NAMES))
                .map(page -> page.path() + " has " + page.lines().size() + " lines")
                .toList();
        assertEquals(List.of(), longer);
    }

    /** Tables, blocks and links cannot be broken. */
    @Test
    void aLineFitsIntoAWindow() throws IOException {
        List<String> wider = Page.all().stream()
                .flatMap(page -> page.prose().stream())
                .filter(line -> line.text().codePointCount(0, line.text().length()) > MOST_COLUMNS
                        && !line.text().stripLeading().startsWith("|")
                        && !line.text().contains("](")
                        && !line.text().contains("://"))
                .map(Page.Line::toString)
                .toList();
        assertEquals(List.of(), wider);
    }

    @Test
    void theReadmeIsShort() throws IOException {
        long bytes = Files.size(Path.of("README.md"));
        assertTrue(bytes <= Page.MOST_README_BYTES, "README.md has " + bytes + " bytes of " + Page.MOST_README_BYTES);
    }
}
