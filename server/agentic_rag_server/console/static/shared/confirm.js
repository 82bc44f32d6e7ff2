// A dialog that asks before something cannot be undone.

import { Part, html, nothing } from "./element.js";

class RagConfirm extends Part {
  static properties = { question: { state: true } };

  // Whether the user confirms. `question`: title, text, the button's word, and `repeat`, a name to be typed.
  async ask(question) {
    this.question = question;
    await this.updateComplete;
    const dialog = this.querySelector("dialog");
    dialog.returnValue = "";
    dialog.showModal();
    this.querySelector(question.repeat ? "input" : "button[value='']").focus();
    return new Promise((resolve) => {
      dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
    });
  }

  submit(event) {
    event.preventDefault();
    this.querySelector("dialog").close(event.submitter?.value ?? "");
  }

  render() {
    const { question } = this;
    return html`<dialog aria-labelledby="confirm-title">
      ${question
        ? html`<form @submit=${this.submit}>
            <h2 id="confirm-title">${question.title}</h2>
            <p>${question.text}</p>
            ${question.repeat
              ? html`<label>
                  <span>Type <strong>${question.repeat}</strong> to confirm</span>
                  <input required pattern=${question.repeat.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&")} autocomplete="off" />
                </label>`
              : nothing}
            <div class="row end">
              <button value="" formnovalidate>Cancel</button>
              <button class="danger" value="yes">${question.word}</button>
            </div>
          </form>`
        : nothing}
    </dialog>`;
  }
}

customElements.define("rag-confirm", RagConfirm);
