package io.farheap.procedure.translate.instruction;

/** Builds the messages of refusals, for one class. */
public record RefusalMessages(String className) {

    private static final int LONGEST = 200;

    /** Makes a name printable: names come from the class, which may contain any character. */
    public static String printable(String text) {
        StringBuilder clean = new StringBuilder();
        text.codePoints()
                .limit(LONGEST)
                .forEach(c -> clean.appendCodePoint(c >= ' ' && c < 0x7f || Character.isLetterOrDigit(c) ? c : '?'));
        return text.length() > LONGEST ? clean.append("...").toString() : clean.toString();
    }

    /** A refusal of the class as a whole. */
    public RefusedProcedureException of(String rule) {
        return new RefusedProcedureException(printable(className) + ": " + rule);
    }

    public RefusedProcedureException of(String method, String rule) {
        return new RefusedProcedureException(printable(className) + ", method " + printable(method) + ": " + rule);
    }

    public RefusedProcedureException at(int line, String instruction, String rule) {
        String where = line == 0 ? ", no line known" : ", line " + line;
        return new RefusedProcedureException(
                printable(className) + where + ": " + printable(instruction) + ": " + rule);
    }
}
