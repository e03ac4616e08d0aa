package io.farheap.bench.figures;

import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** The words of a line of a template: blanks separate them, but not inside double quotes. */
final class TemplateWords {

    private static final Pattern WORD = Pattern.compile("(?:[^\\s\"]|\"[^\"]*\")+");

    private TemplateWords() {}

    static List<String> of(String line) {
        return WORD.matcher(line).results().map(MatchResult::group).toList();
    }
}
