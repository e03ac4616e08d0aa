package io.farheap.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The contents of docs, and the page that each line of them leads to. */
@Needs(Need.HOST)
class ContentsTest {

    private static final Pattern LINK = Pattern.compile("\\]\\(([^()#\\s]+\\.md)(?:#[^)]*)?\\)");

    @Test
    void everyPageIsInTheContents() throws IOException {
        Page contents = Page.read(Page.CONTENTS);
        Set<String> missing = new TreeSet<>();
        for (Page page : Page.belowDocs()) {
            missing.add(page.path().toString());
        }
        assertTrue(missing.size() > 20, missing::toString);
        missing.remove(Page.CONTENTS.toString());
        for (Page.Line line : contents.prose()) {
            LINK.matcher(line.text())
                    .results()
                    .map(link -> Page.CONTENTS.resolveSibling(link.group(1)).normalize())
                    .forEach(page -> missing.remove(page.toString()));
        }
        assertEquals(Set.of(), missing, "pages that docs/README.md does not lead to");
    }

    @Test
    void everyPageBeginsWithItsTitle() throws IOException {
        List<String> untitled = Page.all().stream()
                .filter(page ->
                        page.lines().isEmpty() || !page.lines().getFirst().startsWith("# "))
                .map(page -> page.path().toString())
                .toList();
        assertEquals(List.of(), untitled);
    }
}
