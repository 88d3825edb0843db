/** Formatted text without anything that could act: no links, images, frames, forms, styles or attributes. */
import DOMPurify from 'dompurify';
import { Marked, type Tokens } from 'marked';

const TAGS = ['p', 'br', 'hr', 'strong', 'em', 'del', 'code', 'pre', 'blockquote', 'ul', 'ol', 'li', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'table', 'thead', 'tbody', 'tr', 'th', 'td'];

const escape = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

const marked = new Marked({ gfm: true, breaks: true, async: false });
marked.use({
  renderer: {
    // A link shows its words and its address, and goes nowhere. A picture shows only its words.
    link({ href, tokens }: Tokens.Link): string {
      const words = this.parser.parseInline(tokens);
      return words === escape(href) ? `<code>${escape(href)}</code>` : `${words} <code>${escape(href)}</code>`;
    },
    image({ href, text }: Tokens.Image): string {
      return `${escape(text)} <code>${escape(href)}</code>`;
    },
    // Alignment would be an attribute.
    tablecell({ header, tokens }: Tokens.TableCell): string {
      const tag = header ? 'th' : 'td';
      return `<${tag}>${this.parser.parseInline(tokens)}</${tag}>\n`;
    },
    // HTML in the text is text.
    html({ text }: Tokens.HTML | Tokens.Tag): string {
      return escape(text);
    },
  },
});

/** HTML of the text. Already without anything that could act; `safeMarkdown` does not rely on it. */
export function rendered(text: string): string {
  return marked.parse(text, { async: false });
}

/** HTML that is safe to draw. */
export function safeMarkdown(text: string): string {
  return DOMPurify.sanitize(rendered(text), { ALLOWED_TAGS: TAGS, ALLOWED_ATTR: [], ALLOW_DATA_ATTR: false, ALLOW_ARIA_ATTR: false });
}
